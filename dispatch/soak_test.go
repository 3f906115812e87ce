package dispatch_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

var soakFor = flag.Duration("soak", 0, "how long TestSoak goes on; 0 means a few hundred steps")

// Several processes do everything at random and are killed -9 at random times and
// steps. What must never happen (DESIGN.md, section 11) is looked for all the time and
// once more at the end, when everything is delivered. A failure leaves the store.
func TestSoak(t *testing.T) {
	s := newSoak(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var beside sync.WaitGroup
	for _, id := range soakStaying {
		beside.Go(func() { s.follow(ctx, id) })
	}
	beside.Go(func() {
		for ctx.Err() == nil && !t.Failed() {
			s.audit(ctx)
		}
	})
	var workers sync.WaitGroup
	for i := range 3 {
		workers.Go(func() { s.runChildren(i) })
	}
	workers.Wait()
	if !t.Failed() {
		s.finish()
	}
	stop()
	beside.Wait()
}

// A soak is what the parent knows.
type soak struct {
	t     *testing.T
	dir   string // holds the store and the agents' files
	seed  uint64
	roll  func(n int) int
	until time.Time
	store *session.Store
	d     *dispatch.Dispatcher

	mu       sync.Mutex
	children int
	promised map[string][]string // session to mids, of sends that returned
	keys     map[string]string   // session and key to mid
	followed map[string][]string // session to the mids that its follower saw
}

func newSoak(t *testing.T) *soak {
	dir, err := os.MkdirTemp("", "docket-soak-")
	must(t, err)
	s := &soak{
		t: t, dir: dir, seed: uint64(time.Now().UnixNano()), until: time.Now().Add(*soakFor),
		promised: map[string][]string{}, keys: map[string]string{}, followed: map[string][]string{},
	}
	s.roll = roller(s.seed)
	s.store, err = s.job(0).open()
	must(t, err)
	s.d = dispatch.New(s.store, dispatch.Options{Adapters: adapter.Registry{moodyKind(s.roll)}})
	t.Cleanup(func() {
		s.d.Close()
		if t.Failed() {
			t.Logf("seed %d, %d children; the store and what the agents got is in %s", s.seed, s.children, dir)
			return
		}
		must(t, os.RemoveAll(dir))
	})
	for _, id := range slices.Concat(soakStaying, soakClosing) {
		must(t, newSoakSession(t.Context(), s.store, id))
	}
	return s
}

// job is what the n-th child does.
func (s *soak) job(n int) job {
	j := job{
		Store: filepath.Join(s.dir, "store"), Name: fmt.Sprintf("child %d", n), Count: 15 + s.roll(30),
		Seed: s.seed + uint64(n), SegmentBytes: 4000, Buffered: s.roll(3) > 0,
	}
	if s.roll(2) == 0 {
		j.DieAt = 1 + s.roll(300)
	}
	return j
}

// runChildren runs one after another, until the time is up.
func (s *soak) runChildren(slot int) {
	for i := 0; !s.t.Failed() && (i < 4 || time.Now().Before(s.until)); i++ {
		s.mu.Lock()
		s.children++
		n := s.children
		s.mu.Unlock()
		if err := s.runChild(s.job(n)); err != nil {
			s.t.Errorf("child %d in slot %d: %v", n, slot, err)
		}
	}
}

// runChild runs a child and perhaps kills it. What it was promised it has said.
func (s *soak) runChild(j job) error {
	content, err := json.Marshal(j)
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DOCKET_DISPATCH_CHILD=soak", "DOCKET_DISPATCH_JOB="+string(content))
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if j.DieAt == 0 && s.roll(2) == 0 {
		killer := time.AfterFunc(time.Duration(s.roll(300))*time.Millisecond, func() { cmd.Process.Kill() })
		defer killer.Stop()
	}
	s.listen(bufio.NewReader(out))
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && (!errors.As(err, &exit) || exit.Exited()) {
		return fmt.Errorf("%w: %s", err, stderr.String())
	}
	return nil
}

// listen notes what a child was promised. A line without its end is of a dead one.
func (s *soak) listen(out *bufio.Reader) {
	var inOrder = map[string][]string{}
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			break
		}
		what := strings.Fields(line)
		if len(what) != 3 || what[0] != "sent" && !strings.HasPrefix(what[0], "key-") {
			continue // the name of the step at which it dies
		}
		id, mid := what[1], what[2]
		s.promise(id, mid)
		s.mu.Lock()
		if what[0] == "sent" {
			inOrder[id] = append(inOrder[id], mid)
		} else if was := s.keys[id+what[0]]; was != "" && was != mid {
			s.t.Errorf("session %s: %s is %s and %s", id, what[0], was, mid)
		} else {
			s.keys[id+what[0]] = mid
		}
		s.mu.Unlock()
	}
	for id, mids := range inOrder {
		if sent, _, err := s.log(context.Background(), id); err != nil || !inSequence(mids, sent) {
			s.t.Errorf("session %s: %v: what one sender sent in the order %v is recorded in %v", id, err, mids, sent)
		}
	}
}

// follow goes along with one session and sees to it that nothing is missing.
func (s *soak) follow(ctx context.Context, id string) {
	of, err := s.store.Open(id)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer of.Release()
	next, caughtUp := uint64(0), 0
	for u, err := range of.Timeline().Follow(ctx, timeline.FollowOptions{}) {
		switch {
		case err != nil && ctx.Err() != nil:
			return
		case err != nil:
			s.t.Errorf("follow %s: %v", id, err)
			return
		case u.CaughtUp:
			caughtUp++
			continue
		case u.Event.Seq != next || caughtUp > 1:
			s.t.Errorf("follow %s: got event %d, want %d; %d marks", id, u.Event.Seq, next, caughtUp)
			return
		}
		next++
		if u.Event.Kind == timeline.KindSent {
			s.mu.Lock()
			s.followed[id] = append(s.followed[id], u.Event.MID)
			s.mu.Unlock()
		}
	}
}

// log returns the messages and the declarations of a session. It fails where an event
// shows what is private.
func (s *soak) log(ctx context.Context, id string) (sent, declared []string, err error) {
	of, err := s.store.Open(id)
	if err != nil {
		return nil, nil, err
	}
	defer of.Release()
	next := uint64(0)
	for e, err := range of.Timeline().All(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if e.Seq != next {
			return nil, nil, fmt.Errorf("event %d comes as number %d", e.Seq, next)
		}
		next++
		if e.Kind == timeline.KindSent {
			sent = append(sent, e.MID)
		} else {
			declared = append(declared, e.Status+e.Proposal+e.Note)
		}
		var shown map[string]any
		if err := json.Unmarshal(e.JSON(), &shown); err != nil {
			return nil, nil, err
		}
		for _, private := range []string{"dispatchReceipt", "docket", "seq", "crc", "operation", "requestDigest"} {
			if _, there := shown[private]; there {
				return nil, nil, fmt.Errorf("event %d shows %s: %s", e.Seq, private, e.JSON())
			}
		}
	}
	return sent, declared, nil
}

// inbox returns what the agent of a session has.
func (s *soak) inbox(id string) []string {
	content, err := os.ReadFile(filepath.Join(s.dir, "inbox-"+id))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Error(err)
	}
	content = content[:bytes.LastIndexByte(content, '\n')+1]
	var mids []string
	for line := range bytes.Lines(content) {
		var p struct{ MID string }
		if err := json.Unmarshal(line, &p); err != nil {
			s.t.Errorf("inbox %s: %v", id, err)
		}
		mids = append(mids, p.MID)
	}
	return mids
}
