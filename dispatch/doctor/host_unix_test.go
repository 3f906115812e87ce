//go:build linux || darwin

package doctor_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch/doctor"
	"github.com/docket-go/docket/timeline/session"
)

// deaf is a session directory's socket of a host that is gone.
func deaf(t testing.TB, dir string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "host.sock"), Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, l.Close())
}

func TestHosts(t *testing.T) {
	short, err := os.MkdirTemp("", "d") // the path of a socket has a limit
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(short) })
	w := newWorld(t)
	w.store, err = session.OpenStore(short, session.Options{})
	must(t, err)
	w.dir = short
	kinds := append(adapter.Registry{host.KindOf("host", "")}, registry...)
	for _, id := range []string{"killed", "alone", "unrecorded"} {
		w.create(session.New{ID: id, Adapter: "host"})
	}
	hosted := func(o *doctor.Options) { o.Kinds, o.Hosted = kinds, []string{"host"} }
	deaf(t, filepath.Join(short, "sessions", "killed"))
	b, err := host.Open(host.Options{
		Session: adapter.Session{ID: "unrecorded", Dir: filepath.Join(short, "sessions", "unrecorded")},
		Start:   func(context.Context, *host.Seat) (host.Agent, error) { return nil, context.Canceled }, FirstBackoff: -1,
	})
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- b.Serve(ctx) }()
	all := w.examine(hosted)
	cancel()
	must(t, <-served)
	all.wants(t, "host", doctor.Problem, " killed: ", "was killed", "docket host killed -- CMD")
	all.wants(t, "host", doctor.Problem, " unrecorded: ", "cannot take prompts", "docket host unrecorded -- CMD")
	all.wants(t, "host", doctor.Note, "2 of 3 sessions", "0 idle, 0 at work")
	if got := all.of("host"); len(got) != 3 {
		t.Errorf("got %q, want nothing about the session that never had a host", got)
	}
}
