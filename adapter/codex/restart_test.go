package codex_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
)

// restart opens an agent with a store, and returns what it made of it.
func restart(t *testing.T, m *memory, play func(f *fake)) (*fake, *codex.Agent, error) {
	t.Helper()
	o := whole
	o.Store = m
	f, peer := newFake(t)
	a, err := opened(t, f, peer, o, nil, func() {
		f.answer(f.Expect("initialize"), hello)
		f.Expect("initialized")
		play(f)
	})
	return f, a, err
}

// TestNewThread is stored after it has its name, and before its first message.
func TestNewThread(t *testing.T) {
	m := &memory{}
	_, _, err := restart(t, m, func(f *fake) {
		f.answer(f.Expect("thread/start"), madeOne)
		name := f.Expect("thread/name/set")
		if m.Thread != "" {
			t.Errorf("got the thread %q stored before it has a name, want none", m.Thread)
		}
		f.answer(name, `{}`)
		f.answer(f.Expect("thread/turns/list"), noTurns)
	})
	if err != nil || m.Thread != "t-1" || len(m.Earlier) != 0 {
		t.Errorf("got %+v, %v, want the thread t-1 alone", m.Record, err)
	}
}

// TestThreadThatIsLost is followed by another, which says so, and stays known.
func TestThreadThatIsLost(t *testing.T) {
	for _, why := range []string{"no rollout found for thread id t-0", "session t-0 is archived"} {
		m := &memory{codex.Record{Thread: "t-0", Earlier: []string{"t-9"}}}
		f, a, err := restart(t, m, func(f *fake) {
			f.fail(f.Expect("thread/resume"), -32600, why)
			f.answer(f.Expect("thread/start"), madeOne)
			f.answer(f.Expect("thread/name/set"), `{}`)
			f.answer(f.Expect("thread/turns/list"), noTurns)
			f.fail(f.Expect("thread/turns/list"), -32600, "thread not loaded: t-9")
			f.answer(f.Expect("thread/turns/list"), noTurns)
		})
		if err != nil || m.Thread != "t-1" || strings.Join(m.Earlier, " ") != "t-9 t-0" {
			t.Fatalf("got %+v, %v, want t-1 after t-9 and t-0", m.Record, err)
		}
		s := taken(t, f, a, "m1")
		f.complete("completed")
		s.End(t)
		if all := s.All(); len(all) != 1 || !strings.HasPrefix(all[0], "warning context_lost") {
			t.Errorf("got %q, want that the context is lost", all)
		}
	}
}

// TestThreadOfAnotherWriter is asked for again, and never replaced by another.
func TestThreadOfAnotherWriter(t *testing.T) {
	writing := func(f *fake) { f.fail(f.Expect("thread/resume"), -32600, "thread t-1 already has an active writer") }
	m := &memory{codex.Record{Thread: "t-1"}}
	_, _, err := restart(t, m, func(f *fake) {
		writing(f)
		writing(f)
		f.answer(f.Expect("thread/resume"), madeOne)
		f.answer(f.Expect("thread/turns/list"), noTurns)
	})
	if err != nil {
		t.Errorf("got %v, want that it goes on when the other writer is gone", err)
	}
	f, peer := newFake(t)
	ctx, cancel := context.WithCancel(context.Background())
	o := whole
	o.Store, o.RetryDelay = m, time.Hour
	got := make(chan error, 1)
	go func() {
		_, err := codex.Open(ctx, peer, nil, o)
		got <- err
	}()
	f.answer(f.Expect("initialize"), hello)
	f.Expect("initialized")
	writing(f)
	cancel()
	// Depending on what comes first the context ends in the request or in the pause.
	if err := hosttest.Receive(t, "the error", got); !errors.Is(err, codex.ErrWriter) && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want ErrWriter", err)
	}
	if m.Thread != "t-1" || len(m.Earlier) != 0 {
		t.Errorf("got %+v, want t-1 kept", m.Record)
	}
}

// TestThreadWithAnotherID is no answer that anything is built on.
func TestThreadWithAnotherID(t *testing.T) {
	m := &memory{codex.Record{Thread: "t-7"}}
	if _, _, err := restart(t, m, func(f *fake) { f.answer(f.Expect("thread/resume"), madeOne) }); err == nil || m.Thread != "t-7" {
		t.Errorf("got %v and %+v, want an error and t-7 kept", err, m.Record)
	}
}

func TestFileStore(t *testing.T) {
	dir := t.TempDir()
	s := codex.FileStore{Dir: dir}
	if r, err := s.Load(); err != nil || r.Thread != "" {
		t.Errorf("got %+v, %v of nothing, want nothing", r, err)
	}
	want := codex.Record{Thread: "t-1", Earlier: []string{"t-0"}}
	if err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Load(); err != nil || r.Thread != want.Thread || strings.Join(r.Earlier, "") != "t-0" {
		t.Errorf("got %+v, %v, want %+v", r, err, want)
	}
	path := filepath.Join(dir, "codex-thread.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(data) - 1 { // all but the newline
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(); !errors.Is(err, codex.ErrStore) {
			t.Errorf("cut at %d: got %v, want ErrStore", n, err)
		}
	}
	for _, text := range []string{`{"version":2,"thread":"t"}`, `{"version":1}`, `{"version":1,"thread":"t","earlier":[""]}`, string(data) + "x", `[]`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(); !errors.Is(err, codex.ErrStore) {
			t.Errorf("%s: got %v, want ErrStore", text, err)
		}
	}
	if err := (codex.FileStore{Dir: filepath.Join(dir, "gone")}).Save(want); err == nil {
		t.Error("got no error in a directory that is not there")
	}
}
