package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// The sessions of a soak: those that stay, of which everything is checked, and those
// that are closed and made again all the time.
var (
	soakStaying = []string{"s0", "s1", "s2"}
	soakClosing = []string{"c0", "c1"}
)

// A moody adapter is a file that refuses, loses its answer before or after the line is
// written, and cannot always tell what it has. What it does tell is true.
type moody struct {
	*file.Adapter
	roll func(n int) int
}

var errMoody = errors.New("the answer was lost")

func (m *moody) Policy() adapter.Policy { return adapter.Hold }

func (m *moody) Insert(ctx context.Context, p adapter.Prompt) error {
	switch m.roll(8) {
	case 0:
		return adapter.ErrBusy
	case 1:
		return errMoody
	case 2:
		return adapter.Unconfirm(errors.Join(m.Adapter.Insert(ctx, p), errMoody))
	}
	return m.Adapter.Insert(ctx, p)
}

func (m *moody) Lookup(ctx context.Context, mid string) (adapter.Presence, error) {
	if m.roll(4) == 0 {
		return adapter.CannotTell, nil
	}
	return m.Adapter.Lookup(ctx, mid)
}

func moodyKind(roll func(n int) int) adapter.Kind {
	return adapter.Kind{
		Name: "moody", Doc: "a file that fails in every way", Settings: file.Kind.Settings,
		Open: func(_ adapter.Session, settings map[string]string) (adapter.Adapter, error) {
			a, err := file.New(file.Options{Path: settings["path"]})
			return &moody{Adapter: a, roll: roll}, err
		},
	}
}

// roller is safe for concurrent use.
func roller(seed uint64) func(n int) int {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	return func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
}

// newSoakSession makes a session whose agent is a file beside the store.
func newSoakSession(ctx context.Context, store *session.Store, id string) error {
	inbox := filepath.Join(filepath.Dir(store.Dir()), "inbox-"+id)
	s, err := store.Create(ctx, session.New{ID: id, Adapter: "moody", Settings: map[string]string{"path": inbox}})
	if err != nil {
		return err
	}
	return s.Release()
}

// A soaker is one process of a soak.
type soaker struct {
	job
	roll  func(n int) int
	store *session.Store
	d     *dispatch.Dispatcher
}

// soakSteps does j.Count random things, and prints what was promised as soon as it was.
func soakSteps(ctx context.Context, j job, _ *dispatch.Dispatcher) error {
	store, err := j.open()
	if err != nil {
		return err
	}
	s := &soaker{job: j, roll: roller(j.Seed), store: store}
	s.d = dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{moodyKind(s.roll)}})
	defer s.d.Close()
	for range j.Count {
		id := soakStaying[s.roll(len(soakStaying))]
		do := soakOperations[s.roll(len(soakOperations))]
		if err := do(ctx, s, id); err != nil && !ordinary(err) {
			return fmt.Errorf("seed %d: session %s: %w", j.Seed, id, err)
		}
	}
	return nil
}

// ordinary are the errors that a soak brings about itself. A session that is closed
// meanwhile is one of those that are.
func ordinary(err error) bool {
	var pass *dispatch.PassError
	if errors.As(err, &pass) {
		return errors.Is(err, adapter.ErrBusy) || errors.Is(err, errMoody) || errors.Is(err, dispatch.ErrHeld)
	}
	for _, known := range []error{
		lock.ErrBusy, lock.ErrClosed, timeline.ErrClosed, session.ErrNotFound, session.ErrExists, dispatch.ErrSenderClosed,
		dispatch.ErrInFlight, dispatch.ErrNotUnconfirmed, dispatch.ErrNoMessage, queue.ErrNotPending,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// soakOperations are drawn with equal chances, so some are there more than once.
var soakOperations = []func(ctx context.Context, s *soaker, id string) error{
	soakSend, soakSend, soakSend, soakKeyed, soakKeyed, soakDrain, soakDrain, soakDeclare,
	soakRevoke, soakConfirm, soakSeal, soakRepair, soakClose, soakElsewhere,
}

func soakSend(ctx context.Context, s *soaker, id string) error {
	m := dispatch.Message{Text: fmt.Sprintf("%s %d", s.Name, s.roll(1e9)), NoDrain: s.roll(2) == 0}
	if s.roll(4) == 0 {
		m.From = soakClosing[s.roll(len(soakClosing))]
	}
	a, err := s.d.SendText(ctx, id, m)
	if err == nil {
		fmt.Println("sent", id, a.MID)
		err = a.Pass
	}
	return err
}

func soakKeyed(ctx context.Context, s *soaker, id string) error {
	key := fmt.Sprintf("key-%d", s.roll(40))
	a, err := s.d.SendText(ctx, id, dispatch.Message{Text: "text of " + key, Key: key, NoDrain: s.roll(2) == 0})
	if err == nil {
		fmt.Println(key, id, a.MID)
		err = a.Pass
	}
	return err
}

func soakDrain(ctx context.Context, s *soaker, id string) error {
	_, err := s.d.Drain(ctx, id, dispatch.DrainOptions{})
	return err
}

func soakDeclare(ctx context.Context, s *soaker, id string) error {
	words := []session.Declaration{
		{Status: session.StatusActive}, {Status: session.StatusAsking, Note: "which one?"},
		{Status: session.StatusAwaiting, Proposal: session.ProposalMerge},
	}
	s.Session = id
	return s.inSession(func(of *session.Session) error {
		_, err := of.Declare(ctx, words[s.roll(len(words))])
		return err
	})
}

func soakRevoke(ctx context.Context, s *soaker, id string) error {
	owed, err := s.d.Pending(ctx, id)
	if err != nil || len(owed) == 0 {
		return err
	}
	return s.d.Revoke(ctx, id, owed[s.roll(len(owed))].MID)
}

// soakConfirm confirms what has arrived; what has not is left to Lookup.
func soakConfirm(ctx context.Context, s *soaker, id string) error {
	owed, err := s.d.Pending(ctx, id)
	if err != nil || len(owed) == 0 {
		return err
	}
	inbox, err := file.New(file.Options{Path: filepath.Join(filepath.Dir(s.store.Dir()), "inbox-"+id)})
	if err != nil {
		return err
	}
	if there, err := inbox.Lookup(ctx, owed[0].MID); there != adapter.Present {
		return err
	}
	_, err = s.d.Confirm(ctx, id, owed[0].MID, false)
	return err
}

func soakSeal(ctx context.Context, s *soaker, id string) error {
	s.Session = id
	return s.inSession(func(of *session.Session) error {
		_, err := of.Timeline().Seal(ctx)
		return err
	})
}

func soakRepair(ctx context.Context, s *soaker, id string) error {
	done, err := s.d.Repair(ctx, id)
	if err == nil {
		err = done.Fault
	}
	return err
}

// soakClose closes one of the sessions that are closed, and makes it again.
func soakClose(ctx context.Context, s *soaker, _ string) error {
	s.Session = soakClosing[s.roll(len(soakClosing))]
	err := s.inSession(func(of *session.Session) error { return of.Close(ctx) })
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		return err
	}
	return newSoakSession(ctx, s.store, s.Session)
}

func soakElsewhere(ctx context.Context, s *soaker, _ string) error {
	id := soakClosing[s.roll(len(soakClosing))]
	a, err := s.d.SendText(ctx, id, dispatch.Message{Text: "to a short life"})
	if err == nil {
		err = a.Pass
	}
	return err
}
