package codex

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/docket-go/docket/adapter/host"
)

// A Peer is codex's end of the connection: its output is read, its input is
// written. Close ends the program; it may be called more than once and at the same
// time, and must let a Read or Write that waits return. A Peer with a method
// Err() error says by it how the program ended.
type Peer interface {
	io.ReadWriteCloser
}

// Starter returns what starts the program for a [host.Broker]: the program is
// launched, greeted, and given a thread, the one of before if it can go on with it.
// Args of the process are codex and "app-server".
func Starter(process host.ProcessOptions, o Options) host.Starter {
	return func(ctx context.Context, seat *host.Seat) (host.Agent, error) {
		o := o
		if o.Store == nil && seat.Session.Dir != "" {
			o.Store = FileStore{Dir: seat.Session.Dir}
		}
		if o.Dir == "" {
			o.Dir = process.Dir
		}
		p, err := seat.Launch(process)
		if err != nil {
			return nil, err
		}
		a, err := Open(ctx, newProgram(p), seat, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", process.Args[0], err)
		}
		return a, nil
	}
}

// A program is a process as a Peer.
type program struct{ *host.Process }

func newProgram(p *host.Process) program {
	go func() {
		<-p.Done()
		if out, can := p.Stdout.(interface{ SetReadDeadline(time.Time) error }); can {
			_ = out.SetReadDeadline(time.Now().Add(lastWords))
		}
	}()
	return program{p}
}

// lastWords is how long the output of a program that exited is read when something
// outside its group holds it open.
const lastWords = time.Second

func (p program) Read(b []byte) (int, error)  { return p.Stdout.Read(b) }
func (p program) Write(b []byte) (int, error) { return p.Stdin.Write(b) }

// Err waits for the end that the end of the output announces, but not for ever.
func (p program) Err() error {
	wait := time.NewTimer(lastWords)
	defer wait.Stop()
	select {
	case <-p.Done():
	case <-wait.C:
	}
	return p.Process.Err()
}
