//go:build linux || darwin

package turns_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/timeline/session"
)

// Nothing is approved by itself: the session asks, and stops asking when it is
// answered, revoked or over.
func TestPermissionsAreAskedInPublic(t *testing.T) {
	w, agent := newWorld(t), newHeld()
	w.serve(only(agent))
	set := func(o *turns.Options) { o.Permissions = turns.Asking(w.Session) }
	_, leave := w.record(set)
	w.idle()
	w.send("one")
	to := receive(t, agent.sinks)
	asked := host.Permission{ID: "p1", Title: "Run\nrm -r build", Options: []host.Option{{ID: "y", Name: "Allow", Grants: true}, {ID: "n", Name: "Reject"}}}
	to.Emit(none, asked)
	status := func(want string) session.Record {
		t.Helper()
		var rec session.Record
		eventually(t, func() bool { rec, _ = w.Record(); return rec.Status == want }, func() string {
			return "got status " + rec.Status + ", want " + want
		})
		return rec
	}
	if rec := status("asking"); rec.Note != "The agent asks for permission:\np1: Run rm -r build (Allow, Reject)\n"+
		"Answer with docket permit "+w.ID()+" p1 OPTION: an ordinary message does not answer it.\nWhat exactly it is about, docket permit "+w.ID()+" shows as long as it waits." {
		t.Errorf("got note %q, want id, title, options and the command", rec.Note)
	}
	if err := host.NewClient(w.dir).Decide(t.Context(), "p1", "y"); err != nil {
		t.Fatal(err)
	}
	status("active")
	asked.ID = "p2"
	to.Emit(none, asked)
	status("asking")
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	_, _ = w.record(set) // knows from the log what is asked
	asked.ID = "p3"
	to.Emit(none, asked)
	eventually(t, func() bool {
		rec, _ := w.Record()
		return strings.Contains(rec.Note, "\np2: ") && strings.Contains(rec.Note, "\np3: ") && strings.Contains(rec.Note, " PERMISSION OPTION:")
	}, func() string { return "got a note without p2 or p3, want both and the command" })
	if err := host.NewClient(w.dir).Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	status("active") // revoked, though the agent has not stopped
	to.Emit(none, host.Permission{ID: "p4", Title: "more"})
	status("asking")
	to.Finish(none, host.Finished{Outcome: host.Cancelled})
	status("idle")
	w.wants("1.0 started", "1.1 permission p1 asked", "1.2 permission p1 granted", "1.3 permission p2 asked", "1.4 permission p3 asked",
		"1.5 permission p2 revoked", "1.6 permission p3 revoked", "1.7 permission p4 asked", "1.8 permission p4 revoked", "1.9 finished cancelled")
	// A status of the agent's own is left alone.
	if _, err := w.Declare(t.Context(), session.Declaration{Status: "asking", Note: "which branch?"}); err != nil {
		t.Fatal(err)
	}
	w.send("two")
	receive(t, agent.sinks).Finish(none, success)
	w.idle()
	if rec := status("asking"); rec.Note != "which branch?" {
		t.Errorf("got note %q, want the agent's", rec.Note)
	}
}

// What is no field of a value is nowhere in the store: not the program's standard
// error, not the ids of options, not the prompt a second time.
func TestSecretsAreNotKept(t *testing.T) {
	const secret = "hunter2-SECRET"
	w, sinks := newWorld(t), make(chan host.Sink, 1)
	programs := make(chan *host.Process, 1)
	w.serve(func(_ context.Context, s *host.Seat) (host.Agent, error) {
		p, err := s.Launch(host.ProcessOptions{Args: []string{"sh", "-c", "echo " + secret + " >&2; read -r line; echo " + secret + " >&2; exit 3"}})
		if err != nil {
			return nil, err
		}
		select {
		case programs <- p:
		default:
		}
		return secretive{&fake{sinks: sinks}, p}, nil
	})
	w.record(func(o *turns.Options) { o.Permissions = turns.Asking(w.Session) })
	w.idle()
	w.send("one")
	to := receive(t, sinks)
	to.Emit(none, host.Permission{ID: "p1", Title: "run it", Options: []host.Option{{ID: secret, Name: "Allow", Grants: true}}})
	if err := host.NewClient(w.dir).Decide(t.Context(), "p1", secret); err != nil {
		t.Fatal(err)
	}
	p := receive(t, programs)
	if _, err := p.Stdin.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	w.wants("1.0 started", "1.1 permission p1 asked", "1.2 permission p1 granted", "1.3 finished interrupted/agent_exited")
	w.idle()
	if err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) {
			t.Errorf("got the secret in %s, want it nowhere", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A secretive agent is a real program with a driver that takes everything.
type secretive struct {
	*fake
	p *host.Process
}

func (s secretive) Done() <-chan struct{} { return s.p.Done() }
func (s secretive) Err() error            { return s.p.Err() }
func (s secretive) Close() error          { return s.p.Close() }
