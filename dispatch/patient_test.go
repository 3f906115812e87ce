package dispatch_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A condition is in which the oldest message is left.
type condition string

const (
	unconfirmedHead condition = "unconfirmed"
	refusedHead     condition = "refused"
)

// A patient is a store of which everything is known, to be damaged in copies.
type patient struct {
	head  condition
	files map[string][]byte // of the store, by their path in it
	texts map[string]string // by mid, as they are handed over
	order []string
	want  map[string]dispatch.Condition
	keys  map[string]string // key to mid
	void  string            // the mid of a closed sender
	note  string

	newest string // the file of the newest segment
}

// newPatient has a session with everything in it: sealed, old and new segments,
// messages in every condition, with and without a key, and one of a closed sender.
func newPatient(t *testing.T, head condition) *patient {
	t.Helper()
	p := &patient{head: head, texts: map[string]string{}, want: map[string]dispatch.Condition{}, keys: map[string]string{}, note: "a question"}
	w := p.open(t, t.TempDir())
	defer w.Close()
	w.create("s1")
	w.create("s2")
	p.send(t, w, 8, "", dispatch.Delivered)
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	_, err = s.Timeline().Seal(t.Context())
	must(t, err)
	_, err = s.Declare(t.Context(), session.Declaration{Status: session.StatusAsking, Note: p.note})
	must(t, err)
	p.send(t, w, 4, "", dispatch.Delivered)
	w.agent.set(vague)
	if head == refusedHead {
		w.agent.set(busy)
		p.send(t, w, 1, "", dispatch.Owed)
	} else {
		p.send(t, w, 1, "", dispatch.Unconfirmed)
		w.agent.set(busy)
		p.send(t, w, 2, "", dispatch.Owed)
		p.send(t, w, 1, "", dispatch.Revoked)
		must(t, w.Revoke(t.Context(), "s1", p.order[len(p.order)-1]))
		p.send(t, w, 1, "s2", dispatch.Owed)
		p.void = p.order[len(p.order)-1]
		p.send(t, w, 2, "", dispatch.Owed)
	}
	s2, err := w.store.Open("s2")
	must(t, err)
	must(t, errors.Join(s2.Close(t.Context()), s2.Release()))
	p.files = filesOf(t, w.dir)
	for name := range p.files {
		if filepath.Base(filepath.Dir(name)) == "timeline" {
			p.newest = max(p.newest, name)
		}
	}
	return p
}

// filesOf returns the content of all files in dir, by their path in it.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files[name], err = os.ReadFile(path)
		}
		return err
	}))
	return files
}

// open makes a world on dir whose segments are tiny.
func (p *patient) open(t *testing.T, dir string) *world {
	w := &world{t: t, dir: dir, agent: &agent{}, buffered: true}
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: true, SegmentBytes: map[condition]int64{unconfirmedHead: 1200}[p.head]}})
	must(t, err)
	w.store = store
	w.Dispatcher = dispatch.New(store, dispatch.Options{
		NewMID: func() (string, error) {
			mid := "m" + strconv.Itoa(100+len(p.order))
			p.order = append(p.order, mid)
			return mid, nil
		},
		Adapters: adapter.Registry{{
			Name: "agent",
			Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return w.agent, nil },
		}},
	})
	return w
}

// send sends n messages, every second of them with a key.
func (p *patient) send(t *testing.T, w *world, n int, from string, as dispatch.Condition) {
	t.Helper()
	for i := range n {
		text := fmt.Sprintf("message %d", len(p.order))
		m := dispatch.Message{Text: text, From: from}
		if i%2 == 1 {
			m.Key = text
		}
		a := w.send("s1", m)
		p.texts[a.MID], p.want[a.MID] = text, as
		if m.Key != "" {
			p.keys[m.Key] = a.MID
		}
	}
}

// copyTo writes the store with its damage.
func (p *patient) copyTo(t *testing.T, dir string, x damage) {
	t.Helper()
	for name, content := range p.files {
		if name == x.file {
			if x.removed {
				continue
			}
			content = x.content
		}
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, content, 0o600))
	}
}

// sent returns the mids that the whole timeline has.
func (p *patient) sent() []string {
	return slices.DeleteFunc(slices.Clone(p.order), func(mid string) bool { return p.want[mid] == "" })
}

// owed returns how many messages the whole queue has.
func (p *patient) owed() (n int) {
	for _, c := range p.want {
		if c == dispatch.Owed || c == dispatch.Unconfirmed {
			n++
		}
	}
	return n
}

// diagnose does everything that can be done with a damaged session.
func (p *patient) diagnose(t *testing.T, x damage) *diagnosis {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	must(t, err)
	defer os.RemoveAll(dir)
	p.copyTo(t, dir, x)
	q := *p
	q.order, q.texts = slices.Clone(p.order), maps.Clone(p.texts)
	d := &diagnosis{patient: &q, damage: x}
	d.w = q.open(t, dir)
	defer func() { d.w.Close() }()
	defer func() {
		if r := recover(); r != nil {
			d.never("panic: %v", r)
		}
	}()
	d.verify(t)
	d.read(t)
	d.use(t)
	d.repair(t)
	d.use(t)
	d.judge()
	return d
}

// read compares what can be read with what is known.
func (d *diagnosis) read(t *testing.T) {
	s, err := d.w.store.Open("s1")
	if d.names("open", err) {
		return
	}
	defer s.Release()
	rec, err := s.Record()
	if !d.names("record", err) && (rec.Note != d.note || rec.Adapter != "agent" || rec.ID != "s1") {
		d.differs("record %+v", rec)
	}
	var mids []string
	for e, err := range s.Timeline().All(t.Context()) {
		if d.names("timeline", err) || e.Kind != timeline.KindSent {
			continue
		}
		if mids = append(mids, e.MID); e.Text != d.texts[e.MID] || e.From != "" && e.From != "s2" {
			d.differs("timeline %s: %q", e.MID, e.Text)
		}
	}
	if !slices.Equal(mids, d.sent()) {
		d.differs("timeline: got %v", mids)
	}
	owed, err := d.w.Pending(t.Context(), "s1")
	if d.names("pending", err) {
		return
	}
	if len(owed) != d.patient.owed() {
		d.differs("pending: got %d", len(owed))
	}
	for _, mid := range d.sent() {
		state, err := d.w.State(t.Context(), "s1", mid)
		if !d.names("state", err) && state.Condition != d.want[mid] {
			d.differs("state %s: got %s, want %s", mid, state.Condition, d.want[mid])
		}
	}
}

// verify asks everybody who looks for damage.
func (d *diagnosis) verify(t *testing.T) {
	s, err := d.w.store.Open("s1")
	if d.names("open", err) {
		return
	}
	defer s.Release()
	odd, err := s.Check(t.Context())
	d.names("check", err)
	for _, o := range odd {
		d.names("check", o)
	}
	faults, err := s.Timeline().Verify(t.Context())
	d.names("verify", err)
	for _, f := range faults {
		d.names("verify", f.Err)
	}
	_, _, err = d.w.store.Closed("s2")
	d.names("closed", err)
	wrong, err := d.w.Disagreements(t.Context(), "s1")
	d.names("disagreements", err)
	for _, w := range wrong {
		d.names("disagreement", w)
	}
	plan, err := d.w.PlanRepair(t.Context(), "s1")
	d.names("plan", err)
	d.names("plan", plan.Fault)
}

// use delivers everything, deciding for what is unconfirmed that it did not arrive,
// and sends.
func (d *diagnosis) use(t *testing.T) {
	d.drain(t)
	text := fmt.Sprintf("new message %d", len(d.order))
	a, err := d.w.SendText(t.Context(), "s1", dispatch.Message{Text: text})
	if a.MID != "" {
		d.texts[a.MID] = text
	}
	d.names("send", err)
	if errors.Is(err, queue.ErrCorrupt) {
		return // as all the others are
	}
	for key, mid := range d.keys {
		a, err := d.w.SendText(t.Context(), "s1", dispatch.Message{Text: key, Key: key, NoDrain: true})
		if d.names("keyed", err) || a.MID == mid {
			continue
		}
		if d.texts[a.MID] = key; !d.forgotten(key) {
			d.never("key of %s: got %s", mid, a.MID)
		}
	}
	d.drain(t)
}

// drain makes passes until one ends by anything else than a message that is held: of
// that one the truth is told.
func (d *diagnosis) drain(t *testing.T) {
	var o dispatch.DrainOptions
	for range 2 * len(d.order) {
		_, err := d.w.Drain(t.Context(), "s1", o)
		var pass *dispatch.PassError
		if !errors.As(err, &pass) || !errors.Is(err, dispatch.ErrHeld) || pass.MID == o.Redeliver {
			d.names("drain", err)
			return
		}
		switch want := d.want[pass.MID]; {
		case want == dispatch.Unconfirmed:
			o.Redeliver = pass.MID
			continue
		case want == dispatch.Delivered:
			_, err = d.w.Confirm(t.Context(), "s1", pass.MID, false)
		case want == dispatch.Revoked:
			err = d.w.Revoke(t.Context(), "s1", pass.MID)
		default:
			_, err = d.w.Confirm(t.Context(), "s1", pass.MID, true)
		}
		d.names("drain", pass)
		d.names("decide", err)
	}
	d.never("passes come to no end")
}

// repair looks first at what it would do.
func (d *diagnosis) repair(t *testing.T) {
	plan, err := d.w.PlanRepair(t.Context(), "s1")
	d.names("plan", err)
	done, doneErr := d.w.Repair(t.Context(), "s1")
	d.names("repair", doneErr)
	if (err == nil) != (doneErr == nil) || !slices.Equal(plan.Restored, done.Restored) || !slices.Equal(plan.Dropped, done.Dropped) {
		d.never("planned was %+v, %v, and done %+v, %v", plan, err, done, doneErr)
	}
}

// judge looks at what the agent got.
func (d *diagnosis) judge() {
	seen := map[string]bool{}
	for _, prompt := range d.w.agent.got {
		mid := prompt.MID
		switch want := d.want[mid]; {
		case d.texts[mid] == "":
			d.never("the agent got an unknown message: %+v", prompt)
		case prompt.Text != d.texts[mid]:
			d.never("the agent got %q as %s", prompt.Text, mid)
		case seen[mid], want == dispatch.Delivered, want == dispatch.Revoked:
			d.never("the agent got %s again, which was %s", mid, want)
		case mid == d.void:
			d.never("the agent got %s of a closed sender", mid)
		}
		seen[mid] = true
	}
	for mid, want := range d.want {
		if (want == dispatch.Owed || want == dispatch.Unconfirmed) && !seen[mid] && mid != d.void {
			d.differs("%s was never handed over", mid)
		}
	}
	if !slices.IsSortedFunc(d.w.agent.mids(), strings.Compare) {
		d.never("order: the agent got %v", d.w.agent.mids())
	}
}
