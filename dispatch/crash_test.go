package dispatch_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A child dies by SIGKILL at each step of an operation in turn. After each death
// the next process goes on from the files alone: what was accepted before is
// delivered once, in order, and a keyed retry of the dead send lands exactly once.
func TestDeathAtEveryStep(t *testing.T) {
	for _, tt := range []struct {
		name, role, key string
		buffered        bool
		owed            int // other messages
		min             int // steps that must at least have been died at
	}{
		{"plain send", "send-1", "", false, 3, 6},
		{"plain send, nothing else owed", "send-1", "", false, 0, 6}, // the pass begins before the sync
		{"plain send, buffered", "send-1", "", true, 3, 6},
		{"keyed send", "send-1", "the key", false, 3, 6},
		{"keyed send, nothing else owed", "send-1", "the key", false, 0, 6},
		{"drain", "drain-1", "", false, 3, 6},
		{"drain, buffered", "drain-1", "", true, 3, 6}, // it has fewer holds of the record lock
		{"revoke", "revoke-1", "", false, 3, 4},
		{"revoke, in two changes", "revoke-1 in groups", "", false, 3, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := 1
			for dieAt(t, tt.role, tt.key, tt.buffered, tt.owed, at) {
				at++
			}
			if at <= tt.min {
				t.Errorf("got %d steps, want at least %d", at-1, tt.min)
			}
		})
	}
}

// dieAt reports false once the operation has fewer steps than at.
func dieAt(t *testing.T, role, key string, buffered bool, owed, at int) bool {
	t.Helper()
	w := newWorld(t)
	inbox := filepath.Join(t.TempDir(), "inbox")
	w.createFile("s1", inbox)
	var before []string
	for _, text := range []string{"one", "two", "three"}[:owed] {
		before = append(before, w.later("s1", text))
	}
	must(t, w.Close())
	j := job{Store: w.dir, Session: "s1", Name: "four", Key: key, Buffered: buffered, DieAt: at}
	cmd := command(t, role, j)
	var out bytes.Buffer
	cmd.Stdout = &out
	died := killed(t, cmd.Run())
	step := strings.TrimSpace(out.String())

	w.withFile()
	if key != "" {
		a := w.send("s1", dispatch.Message{Text: "four", Key: key, NoDrain: true})
		before = append(before, a.MID)
	}
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	if err != nil {
		t.Fatalf("died at %q: %v", step, err)
	}
	recorded, got := w.sent("s1"), inboxMIDs(t, inbox)
	var want []string
	for _, mid := range recorded {
		if w.condition("s1", mid) == dispatch.Delivered {
			want = append(want, mid)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("died at %q: the agent has %v, the timeline says %v", step, got, want)
	}
	for _, mid := range before {
		if !slices.Contains(recorded, mid) || !strings.HasPrefix(role, "revoke-1") && !slices.Contains(got, mid) {
			t.Fatalf("died at %q: message %s is lost: timeline %v, agent %v", step, mid, recorded, got)
		}
	}
	if slices.Sort(recorded); len(slices.Compact(recorded)) != len(w.sent("s1")) || len(recorded) > 4 {
		t.Fatalf("died at %q: got %v, want each message recorded once", step, recorded)
	}
	wantEqual(t, "owed", w.pending("s1"), nil)
	return died
}

// The same for what is done beside sending and delivering, on a session that is owed
// three messages. What each operation leaves is looked at by a function of its own.
func TestDeathAtEveryStepBesideDelivery(t *testing.T) {
	for _, tt := range []struct {
		name    string
		job     job
		role    string
		min     int // steps that must at least have been died at
		prepare func(d *death)
		look    func(d *death)
	}{
		{"repair", job{}, "repair-1", 2, (*death).damageQueue, (*death).repairAgain},
		{"repair in parts", job{Window: 1}, "repair-1", 5, (*death).damageQueue, (*death).repairAgain},
		{"repair of a lost queue in parts", job{Window: 1}, "repair-1", 5, (*death).loseQueue, (*death).repairAgain},
		{"declare", job{Name: "four"}, "declare", 4, nil, (*death).lookForDeclaration},
		{"close", job{}, "close", 4, nil, (*death).closeAgain},
		{"seal", job{SegmentBytes: 300}, "seal", 5, nil, (*death).sealAgain},
		{"rotation", job{Name: "four", Key: "k", SegmentBytes: 300, NoDrain: true}, "send-1", 8, nil, (*death).landOnce},
		{"keyed send after an interrupted one", job{Name: "four", Key: "k", NoDrain: true}, "send-1", 2, (*death).interruptSend, (*death).sendAgain},
		{"the same in parts", job{Name: "four", Key: "k", NoDrain: true, Window: 1}, "send-1", 6, (*death).interruptSend, (*death).sendAgain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := 1
			for died := true; died; at++ {
				tt.job.DieAt = at
				d := newDeath(t, tt.job, tt.prepare)
				died = d.die(tt.role)
				tt.look(d)
			}
			if at-2 < tt.min {
				t.Errorf("got %d steps, want at least %d", at-2, tt.min)
			}
		})
	}
}

// A death is one world in which a child died once.
type death struct {
	*world
	job    job
	inbox  string
	before []string // mids that were accepted before
	step   string   // where the child died
}

func newDeath(t *testing.T, j job, prepare func(d *death)) *death {
	t.Helper()
	d := &death{world: newWorld(t), inbox: filepath.Join(t.TempDir(), "inbox"), job: j}
	d.createFile("s1", d.inbox)
	d.job.Store, d.job.Session = d.dir, "s1"
	for _, name := range []string{"one", "two", "three"} {
		j := job{Store: d.dir, Session: "s1", Name: name, SegmentBytes: j.SegmentBytes}
		store, err := j.open()
		must(t, err)
		other := dispatch.New(store, dispatch.Options{})
		a, err := other.SendText(t.Context(), "s1", dispatch.Message{Text: name, NoDrain: true})
		must(t, errors.Join(err, other.Close()))
		d.before = append(d.before, a.MID)
	}
	if prepare != nil {
		prepare(d)
	}
	must(t, d.Close())
	return d
}

func (d *death) die(role string) bool {
	d.t.Helper()
	cmd := command(d.t, role, d.job)
	var out bytes.Buffer
	cmd.Stdout = &out
	died := killed(d.t, cmd.Run())
	d.step = strings.TrimSpace(out.String())
	d.withFile()
	return died
}

// whole fails unless everything is in order after one ordinary command, and the
// messages want are in the timeline and, after a pass, at the agent.
func (d *death) whole(want []string) {
	d.t.Helper()
	ctx := d.t.Context()
	_, err := d.Pending(ctx, "s1")
	must(d.t, err)
	wrong, err := d.Disagreements(ctx, "s1")
	if err != nil || len(wrong) > 0 {
		d.t.Fatalf("died at %q: got %v, %v, want no disagreement", d.step, wrong, err)
	}
	d.inSession(func(s *session.Session) {
		faults, err := s.Timeline().Verify(ctx)
		if err != nil || slices.ContainsFunc(faults, damaging) {
			d.t.Fatalf("died at %q: got %v, %v, want no damage", d.step, faults, err)
		}
	})
	if _, err := d.Drain(ctx, "s1", dispatch.DrainOptions{}); err != nil {
		d.t.Fatalf("died at %q: %v", d.step, err)
	}
	wantEqual(d.t, "timeline, died at "+d.step, d.sent("s1"), want)
	wantEqual(d.t, "agent, died at "+d.step, inboxMIDs(d.t, d.inbox), want)
}

func (d *death) inSession(do func(s *session.Session)) {
	d.t.Helper()
	s, err := d.store.Open("s1")
	must(d.t, err)
	defer s.Release()
	do(s)
}

func (d *death) damageQueue() {
	content, err := os.ReadFile(d.path("s1", "pending.json"))
	must(d.t, err)
	must(d.t, os.WriteFile(d.path("s1", "pending.json"), bytes.Replace(content, []byte(`"two"`), []byte(`"t}o`), 1), 0o600))
}

func (d *death) loseQueue() { must(d.t, os.Remove(d.path("s1", "pending.json"))) }

func (d *death) repairAgain() {
	_, err := d.Repair(d.t.Context(), "s1")
	must(d.t, err)
	d.whole(d.before)
}

// lookForDeclaration: what the record declares is in the log, once, and nothing else.
func (d *death) lookForDeclaration() {
	next := d.later("s1", "after")
	d.inSession(func(s *session.Session) {
		rec, err := s.Record()
		must(d.t, err)
		var notes, want []string
		for _, e := range d.events("s1") {
			if e.Kind == timeline.KindStatus {
				notes = append(notes, e.Note)
			}
		}
		if rec.Note != "" {
			want = []string{rec.Note}
		}
		wantEqual(d.t, "declared, died at "+d.step, notes, want)
		declared, err := s.Declare(d.t.Context(), session.Declaration{Status: session.StatusActive, Note: "four"})
		if err != nil || declared.Moved != (rec.Note == "") {
			d.t.Fatalf("died at %q: got %+v, %v, want it to move once", d.step, declared, err)
		}
	})
	d.whole(append(d.before, next))
}

// closeAgain: the session is whole, or gone. A new one of its name has nothing of it.
func (d *death) closeAgain() {
	s, err := d.store.Open("s1")
	if err == nil {
		d.whole(d.before)
		must(d.t, errors.Join(s.Close(d.t.Context()), s.Release()))
	} else {
		wantIs(d.t, err, session.ErrNotFound)
	}
	if _, closed, err := d.store.Closed("s1"); !closed || err != nil {
		d.t.Fatalf("died at %q: got %v, %v, want it marked as closed", d.step, closed, err)
	}
	d.inbox = filepath.Join(d.t.TempDir(), "inbox")
	d.createFile("s1", d.inbox)
	d.whole(nil)
	d.whole([]string{d.later("s1", "of a new life")})
}

func (d *death) sealAgain() {
	d.whole(d.before)
	d.inSession(func(s *session.Session) {
		_, err := s.Timeline().Seal(d.t.Context())
		must(d.t, err)
	})
	d.whole(d.before)
}

// interruptSend lets a first sender die between line and debt.
func (d *death) interruptSend() {
	j := d.job
	j.DieAt, j.DieOn = 0, "dispatch: recorded"
	killed(d.t, command(d.t, "send-1", j).Run())
	d.before = d.sent("s1")
}

// landOnce: whether or not the dead sender's message landed, its retry has it there.
func (d *death) landOnce() {
	a := d.send("s1", dispatch.Message{Text: "four", Key: "k", NoDrain: true})
	d.whole(append(d.before, a.MID))
}

func (d *death) sendAgain() {
	a := d.send("s1", dispatch.Message{Text: "four", Key: "k", NoDrain: true})
	if !a.Replayed || len(d.before) != 4 || a.MID != d.before[3] {
		d.t.Fatalf("died at %q: got %+v of %v, want the first one again", d.step, a, d.before)
	}
	d.whole(d.before)
}
