package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/metrics"
	"github.com/docket-go/docket/dispatch/surface"
	"github.com/docket-go/docket/timeline/httpread"
)

// requestGrace is how long the requests that are under way when serve ends may take.
// All of them are short; what is cut off is sent again with its key.
const requestGrace = 5 * time.Second

func surfaceFlags() []verbFlag {
	return []verbFlag{
		{name: "listen", usage: "show the store over HTTP at `ADDRESS`, HOST:PORT or a port of 127.0.0.1; port 0 is any that is free"},
		{name: "token-file", usage: "every request for data has to bear the token in this `FILE`, which only its owner may read"},
		{name: "host", takes: several, usage: "a `NAME` that browsers know this machine by, without port; may be repeated"},
		{name: "read-only", takes: nothing, usage: "show only, and take no messages over HTTP"},
	}
}

// A surfaceServer is the read surface of serve: its listener, and what the flags say.
type surfaceServer struct {
	listener net.Listener
	url      string
	hard     context.Context
	readOnly bool
	token    string
	hosts    []string
}

// listen begins to listen where --listen says, and prints the address; nil means that
// there is no such flag.
func (c *call) listen(ctx context.Context) (*surfaceServer, error) {
	if !c.flags.IsSet("listen") {
		for _, name := range []string{"token-file", "host", "read-only"} {
			if c.flags.IsSet(name) {
				return nil, &usageError{c.verb, "--" + name + " without --listen: give the address to listen on too"}
			}
		}
		return nil, nil
	}
	s := &surfaceServer{hard: c.hard, readOnly: c.flags.Bool("read-only"), hosts: c.flags.StringSlice("host")}
	for _, name := range s.hosts {
		if name == "" || strings.ContainsAny(name, ":/[]* ") {
			return nil, &usageError{c.verb, fmt.Sprintf("--host %q: give a name such as my-machine.lan, without port", name)}
		}
	}
	address, err := c.address()
	if err != nil {
		return nil, err
	}
	if c.flags.IsSet("token-file") {
		if s.token, err = httpread.ReadToken(c.flags.String("token-file")); err != nil {
			return nil, err
		}
	}
	config := net.ListenConfig{}
	if s.listener, err = config.Listen(ctx, "tcp", address.String()); err != nil {
		return nil, unheard(c.flags.String("listen"), err)
	}
	s.url = s.location()
	return s, c.announce(s)
}

// announce prints the address, which whoever started serve waits for.
func (c *call) announce(s *surfaceServer) error {
	if !c.out.json {
		c.out.people("%s\n", s.url)
	} else if err := c.out.object(struct {
		Listen string `json:"listen"`
		URL    string `json:"url"`
	}{s.listener.Addr().String(), s.url}); err != nil {
		return errors.Join(err, s.listener.Close())
	}
	if err := c.out.flush(); err != nil {
		return errors.Join(err, s.listener.Close())
	}
	return nil
}

// address is what --listen names. Without a token it must be one of this machine alone.
func (c *call) address() (*net.TCPAddr, error) {
	text := c.flags.String("listen")
	full := text
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		full = net.JoinHostPort("127.0.0.1", text)
	}
	a, err := net.ResolveTCPAddr("tcp", full)
	if err != nil || text == "" {
		return nil, &usageError{c.verb, fmt.Sprintf("--listen %q is no address of this machine: give HOST:PORT such as 127.0.0.1:8080, or a port", text)}
	}
	if !a.IP.IsLoopback() && !c.flags.IsSet("token-file") {
		return nil, &usageError{c.verb, fmt.Sprintf("--listen %s: other machines can reach that address: give --token-file FILE too, or listen on 127.0.0.1", text)}
	}
	return a, nil
}

// unheard says why nothing can be heard at the address.
func unheard(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--listen %s: another program listens there, perhaps another docket serve: give another port, or 0 for any that is free", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("--listen %s: this machine has no such address: give one that it has, such as 127.0.0.1:8080", address)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("--listen %s: only root may listen there: give a port from 1024 on", address)
	}
	return fmt.Errorf("--listen %s: %w: give another address", address, err)
}

// location is where a browser on this machine, or with --host on another one, finds
// what is served.
func (s *surfaceServer) location() string {
	to := s.listener.Addr().(*net.TCPAddr)
	host := (&net.IPAddr{IP: to.IP, Zone: to.Zone}).String()
	switch {
	case to.IP.IsLoopback():
	case len(s.hosts) > 0:
		host = s.hosts[0]
	case to.IP.IsUnspecified():
		host = "localhost"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(to.Port))}
	return u.String()
}

// handler is everything that is served, and read the surface in it. What stands beside
// that is mounted behind its guard.
func (s *surfaceServer) handler(d *dispatch.Dispatcher, sweeper *dispatch.Sweeper, logger *slog.Logger) (all http.Handler, read *httpread.Handler, err error) {
	o := surface.Options(d, sweeper.Nudge)
	if s.readOnly {
		o.Send = nil
	}
	o.Token, o.Hosts, o.Logger = s.token, s.hosts, logger
	if read, err = httpread.New(o); err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", read)
	mux.Handle("/metrics", read.Guard(metrics.New(metrics.Options{Store: d.Store(), Counters: d.Counters()})))
	return mux, read, nil
}

// serve answers requests until ctx ends, and then for as long as those take that are
// under way.
func (s *surfaceServer) serve(ctx context.Context, d *dispatch.Dispatcher, sweeper *dispatch.Sweeper, logger *slog.Logger) error {
	all, read, err := s.handler(d, sweeper, logger)
	if err != nil {
		return errors.Join(err, s.listener.Close())
	}
	server := read.Server()
	server.Handler = all
	logger.Info("listening", "url", s.url, "token", s.token != "", "readOnly", s.readOnly)
	ended := make(chan error, 1)
	running := context.AfterFunc(ctx, func() { ended <- s.end(server, logger) })
	err = server.Serve(read.Listener(s.listener))
	if running() {
		return fmt.Errorf("listening at %s ended: %w", s.url, err)
	}
	return <-ended
}

// end stops the server in good order: no new connection, the streams end, and the
// requests that are under way are answered.
func (s *surfaceServer) end(server *http.Server, logger *slog.Logger) error {
	ctx, cancel := context.WithTimeout(s.hard, requestGrace)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		logger.Info("closing the connections that did not end by themselves")
		return server.Close()
	}
	return nil
}
