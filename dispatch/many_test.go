package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

// 64 processes send to one session beside drainers, and all of them send one message
// under the same key. Each message is once in the timeline and once at the agent, in
// the same order, and the shared one has one id.
func TestManyProcessesOfOneSession(t *testing.T) {
	processes := 64
	if testing.Short() {
		processes = 16
	}
	w := newWorld(t)
	inbox := filepath.Join(t.TempDir(), "inbox")
	w.createFile("s1", inbox)
	outs := make([]bytes.Buffer, processes)
	var senders, drainers []*exec.Cmd
	var ends []io.Closer
	for i := range processes {
		cmd := command(t, "contend", job{Store: w.dir, Session: "s1", Name: fmt.Sprintf("p%d-", i), Count: 2, Key: "the key"})
		cmd.Stdout = &outs[i]
		must(t, cmd.Start())
		senders = append(senders, cmd)
		if i%32 == 0 {
			cmd := command(t, "drain", job{Store: w.dir, Session: "s1"})
			end, err := cmd.StdinPipe()
			must(t, err)
			must(t, cmd.Start())
			drainers, ends = append(drainers, cmd), append(ends, end)
		}
	}
	for _, cmd := range senders {
		must(t, cmd.Wait())
	}
	for i, cmd := range drainers {
		must(t, ends[i].Close())
		must(t, cmd.Wait())
	}
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	var accepted []string
	for i := range outs {
		accepted = append(accepted, strings.Fields(strings.ReplaceAll(outs[i].String(), "shared ", ""))...)
	}
	slices.Sort(accepted)
	accepted = slices.Compact(accepted)
	recorded := w.sent("s1")
	wantEqual(t, "agent against timeline", inboxMIDs(t, inbox), recorded)
	slices.Sort(recorded)
	wantEqual(t, "timeline against accepted", recorded, accepted)
	if want := 2*processes + 1; len(accepted) != want {
		t.Fatalf("got %d messages, want %d: two of each process and the shared one", len(accepted), want)
	}
	wantEqual(t, "owed", w.pending("s1"), nil)
}

// A thousand sessions are used at once by one process. What it keeps open is bounded,
// and nothing of it stays behind.
func TestThousandSessions(t *testing.T) {
	const workers = 32
	sessions := 1000
	if testing.Short() {
		sessions = 200
	}
	goroutines, files := runtime.NumGoroutine(), openFiles()
	w := newWorld(t)
	w.buffered = true
	w.reopen(dispatch.Options{})
	var most [2]int
	var mu sync.Mutex
	use := func(id string) {
		if _, err := w.SendText(t.Context(), id, dispatch.Message{Text: "to " + id}); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		most[0], most[1] = max(most[0], openFiles()), max(most[1], runtime.NumGoroutine())
	}
	for _, do := range []func(id string){w.create, use, use} {
		ids := make(chan string)
		var all sync.WaitGroup
		for range workers {
			all.Go(func() {
				for id := range ids {
					do(id)
				}
			})
		}
		for _, i := range rand.Perm(sessions) {
			ids <- "s" + strconv.Itoa(i)
		}
		close(ids)
		all.Wait()
	}
	// 64 idle sessions and those in use, of at most 10 files each.
	for i, bound := range []int{files + 10*(64+workers), goroutines + 2*workers} {
		if most[i] > bound {
			t.Errorf("got %d %s, want at most %d", most[i], []string{"open files", "goroutines"}[i], bound)
		}
	}
	if got := len(w.agent.mids()); got != 2*sessions {
		t.Errorf("the agent got %d messages, want %d", got, 2*sessions)
	}
	must(t, w.Close())
	eventually(t, "everything is given back", func() bool {
		return openFiles() <= files && runtime.NumGoroutine() <= goroutines
	})
}

// openFiles returns 0 where the system does not tell.
func openFiles() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

// Processes send into tiny segments while the segments are sealed, the end is read and
// a follower goes along. Everybody sees the same events, and everything ends when the
// session is closed: nothing comes back.
func TestSealTailFollowAndCloseBesideSenders(t *testing.T) {
	const senders, count = 3, 20
	w := newWorld(t)
	w.createFile("s1", filepath.Join(t.TempDir(), "inbox"))
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var beside sync.WaitGroup
	beside.Go(func() { sealAndTail(ctx, t, s) })
	for i := range senders {
		beside.Go(func() {
			cmd := command(t, "send", job{Store: w.dir, Session: "s1", Name: string(rune('a' + i)), Count: count, SegmentBytes: 2000})
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	next := uint64(0)
	for u, err := range s.Timeline().Follow(t.Context(), timeline.FollowOptions{}) {
		must(t, err)
		if u.CaughtUp {
			continue
		}
		if u.Event.Seq != next {
			t.Fatalf("the follower got event %d, want %d", u.Event.Seq, next)
		}
		if next++; next == senders*count {
			break
		}
	}
	cancel()
	beside.Wait()
	if got := len(w.sent("s1")); got != senders*count {
		t.Fatalf("got %d messages, want %d", got, senders*count)
	}
	faults, err := s.Timeline().Verify(t.Context())
	if err != nil || slices.ContainsFunc(faults, damaging) {
		t.Fatalf("got %v, %v, want no damage", faults, err)
	}
	closeBesideSender(t, w, s)
}

// sealAndTail goes on until it is called off.
func sealAndTail(ctx context.Context, t *testing.T, s *session.Session) {
	for ctx.Err() == nil {
		_, sealErr := s.Timeline().Seal(ctx)
		page, err := s.Timeline().Tail(ctx, 10)
		if err := errors.Join(sealErr, err); err != nil && ctx.Err() == nil {
			t.Error(err)
			return
		}
		for i, e := range page.Events {
			if e.Seq != page.Events[0].Seq+uint64(i) || len(page.Bad) > 0 {
				t.Errorf("got event %d at place %d behind %d, and %v", e.Seq, i, page.Events[0].Seq, page.Bad)
			}
		}
	}
}

// closeBesideSender closes the session while a process sends to it.
func closeBesideSender(t *testing.T, w *world, s *session.Session) {
	t.Helper()
	var ended error
	var beside sync.WaitGroup
	beside.Go(func() {
		for _, err := range s.Timeline().Follow(t.Context(), timeline.FollowOptions{Mode: timeline.TailOnly, Poll: 5 * time.Millisecond}) {
			ended = err
		}
	})
	cmd := command(t, "until closed", job{Store: w.dir, Session: "s1", Name: "late"})
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, 36)) // it has sent one
	must(t, err)
	must(t, s.Close(t.Context()))
	_, err = io.Copy(io.Discard, out)
	must(t, errors.Join(err, cmd.Wait()))
	beside.Wait()
	wantIs(t, ended, timeline.ErrClosed)
	if _, err := os.Lstat(w.path("s1", "")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v, want the session to stay gone", err)
	}
	if _, closed, err := w.store.Closed("s1"); !closed || err != nil {
		t.Fatalf("got %v, %v, want it marked as closed", closed, err)
	}
}

// While an insert hangs, others send and declare, here and in another process. A lock
// that is held across the insert fails the test: nobody waits for one for ever.
func TestHangingInsertHoldsNobodyUp(t *testing.T) {
	w := newWorld(t, "s1")
	entered, leave := make(chan bool), make(chan bool)
	w.agent.set(func(adapter.Prompt) error {
		entered <- true
		<-leave
		return nil
	})
	first := w.later("s1", "hangs")
	var pass sync.WaitGroup
	pass.Go(func() {
		if _, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{}); err != nil {
			t.Error(err)
		}
	})
	<-entered
	w.agent.set(nil)
	ctx := t.Context()
	var sent []string
	for i := range 20 {
		a, err := w.SendText(ctx, "s1", dispatch.Message{Text: "beside " + strconv.Itoa(i)})
		must(t, err)
		wantIs(t, a.Pass, lock.ErrBusy)
		sent = append(sent, a.MID)
	}
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	for i := range 5 {
		_, err := s.Declare(ctx, session.Declaration{Status: session.StatusActive, Note: strconv.Itoa(i)})
		must(t, err)
	}
	must(t, w.Revoke(ctx, "s1", sent[len(sent)-1]))
	if c, err := w.State(ctx, "s1", first); err != nil || c.Condition != dispatch.Owed || !c.Handing {
		t.Fatalf("got %+v, %v, want the hanging one owed, and being handed over", c, err)
	}
	cmd := command(t, "hook", job{Store: w.dir, Session: "s1", Name: "another process"})
	must(t, cmd.Run())
	leave <- true
	pass.Wait()
	recorded := w.sent("s1")
	wantEqual(t, "agent", w.agent.mids(), slices.DeleteFunc(recorded, func(mid string) bool { return mid == sent[len(sent)-1] }))
}

// The insert runs code of its own: it declares and sends to the same session, through
// another Dispatcher and through another process. What it sent comes next, in order.
func TestInsertSendsToItsOwnSession(t *testing.T) {
	w := newWorld(t, "s1")
	ctx := t.Context()
	var inside string
	w.agent.set(func(p adapter.Prompt) error {
		if p.Text != "outer" {
			return nil
		}
		other := &world{t: t, dir: w.dir, agent: w.agent}
		other.reopen(dispatch.Options{})
		a, err := other.SendText(ctx, "s1", dispatch.Message{Text: "from inside", Key: "k"})
		inside = a.MID
		if !errors.Is(a.Pass, lock.ErrBusy) {
			err = errors.Join(err, fmt.Errorf("got %w, want the pass to be at work", a.Pass))
		}
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = command(t, "hook", job{Store: w.dir, Session: "s1", Name: "a child"}).Env
		_, confirmErr := other.Confirm(ctx, "s1", p.MID, false)
		if err := errors.Join(err, cmd.Run(), confirmErr); err != nil {
			t.Error(err)
		}
		return nil
	})
	a := w.send("s1", dispatch.Message{Text: "outer"})
	must(t, a.Pass)
	var said []string
	for _, e := range w.events("s1") {
		said = append(said, string(e.Kind)+" "+e.Text+e.Note)
	}
	wantEqual(t, "timeline", said, []string{"sent outer", "sent from inside", "status a child", "sent a child"})
	wantEqual(t, "agent", w.agent.mids(), w.sent("s1"))
	if again := w.send("s1", dispatch.Message{Text: "from inside", Key: "k"}); again.MID != inside || !again.Delivered {
		t.Fatalf("got %+v, want %s again, delivered", again, inside)
	}
}

func damaging(f timeline.Fault) bool { return f.Severity == segment.Damage }
