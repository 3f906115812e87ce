package dispatch_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

var histories = flag.Int("histories", 200, "how many histories TestWindowsDecideAsOneDoes tries")

// Whatever stands in queue and timeline, a look and a repair that hold them against each
// other part by part find and do the same as one that keeps all at once.
func TestWindowsDecideAsOneDoes(t *testing.T) {
	dir := t.TempDir()
	parts := 0
	for seed := range uint64(*histories) {
		h := &history{t: t, dir: dir, id: fmt.Sprint("s", seed), Rand: rand.New(rand.NewPCG(seed, 1))}
		h.make()
		if h.compare(1 + h.IntN(6)) {
			parts++
		}
		if t.Failed() {
			t.Fatalf("with history %d", seed)
		}
	}
	t.Logf("%d of %d in order", parts, *histories)
	if parts < *histories/4 || parts > *histories*9/10 {
		t.Errorf("got %d of %d histories in which the queue is in order, want some of both", parts, *histories)
	}
}

// A history is what a session was through, and what its files are like since.
type history struct {
	t   *testing.T
	dir string
	id  string
	*rand.Rand

	sent      []timeline.Sent
	seqs      []uint64
	ended     map[string]bool
	restarted bool // the machine, since
}

func (h *history) chance(percent int) bool { return h.IntN(100) < percent }

func (h *history) path(name string) string { return filepath.Join(h.dir, "sessions", h.id, name) }

// make writes a timeline, and then a queue.
func (h *history) make() {
	h.ended = map[string]bool{}
	options := timeline.Options{Buffered: true, SegmentBytes: int64(1500 + h.IntN(8000))}
	store, err := session.OpenStore(h.dir, session.Options{Timeline: options})
	must(h.t, err)
	s, err := store.Create(h.t.Context(), session.New{ID: h.id, Adapter: "none"})
	must(h.t, err)
	held, err := s.Locks().Record(h.t.Context())
	must(h.t, err)
	damage := h.chance(40)
	for range h.IntN(50) {
		w, err := s.Timeline().Write(held, h.line())
		must(h.t, err)
		if len(h.sent) > len(h.seqs) {
			h.seqs = append(h.seqs, w.NextSeq-1)
		}
		if damage && h.chance(6) {
			h.appendTo(h.newest(), "{{ a line that makes no sense\n")
		}
	}
	q, err := queue.Open(s.Dir(), queue.Options{Locks: s.Locks()})
	must(h.t, err)
	if entries := h.entries(); len(entries) > 0 {
		_, err = q.Rebuild(held, entries)
		must(h.t, err)
	}
	must(h.t, errors.Join(held.Recovered(), held.Release(), q.Close(), s.Release()))
	if damage && h.chance(30) {
		h.spoil(h.newest())
	}
	if h.chance(10) {
		h.spoil(h.path("pending.json"))
	}
	if h.chance(20) {
		h.restart()
	}
}

// line is the next line of the timeline.
func (h *history) line() timeline.Entry {
	if len(h.sent) > 0 && h.chance(35) {
		mid := h.sent[h.IntN(len(h.sent))].MID // also one that is at an end, or was never sent
		if h.chance(5) {
			mid = "nobody's"
		}
		h.ended[mid] = true
		if h.chance(50) {
			return timeline.Revoked{MID: mid, Reason: "obsolete"}
		}
		return timeline.Settled{MID: mid}
	}
	if h.chance(10) {
		return timeline.Status{Status: "active"}
	}
	s := timeline.Sent{MID: fmt.Sprint("m", len(h.sent)), Text: fmt.Sprint("text ", h.IntN(3)), NoDebt: h.chance(20)}
	if h.chance(20) {
		s.Attributes = map[string]string{"a": "b"}
	}
	h.sent = append(h.sent, s)
	return s
}

// entries is what stands in the queue: mostly what is owed, more or less.
func (h *history) entries() (entries []queue.Entry) {
	odd := []int{0, 3, 25}[h.IntN(3)] // percent
	for i, s := range h.sent {
		e := queue.Entry{MID: s.MID, Text: s.Text, Attributes: s.Attributes, Seq: h.seqs[i], HasSeq: true}
		if s.NoDebt {
			e.Attributes, e.HasSeq = nil, h.chance(50)
		}
		switch at := h.chance(odd); {
		case h.ended[s.MID] != at && !h.chance(2): // it is not there
			continue
		case at && h.chance(30):
			e.Text = "altered"
		case at && h.chance(30):
			e.HasSeq = false
		case at && h.chance(30):
			e.Seq = uint64(h.IntN(len(h.sent) + 5))
		}
		if h.chance(10) {
			e.Doubt = "who knows"
		}
		entries = append(entries, e)
		if h.chance(odd / 3) {
			entries = append(entries, queue.Entry{MID: fmt.Sprint("x", i), Text: "of nobody", HasSeq: h.chance(50), Seq: h.seqs[i]})
		}
	}
	if len(entries) > 0 && odd == 25 {
		switch h.IntN(4) {
		case 0:
			entries = append(entries, entries[h.IntN(len(entries))])
		case 1:
			h.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		case 2:
			return nil
		}
	}
	return entries
}

func (h *history) newest() string {
	paths, err := filepath.Glob(h.path("timeline/*.ndjson"))
	must(h.t, err)
	if len(paths) == 0 {
		return ""
	}
	return slices.Max(paths)
}

func (h *history) appendTo(path, text string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(h.t, err)
	_, err = f.WriteString(text)
	must(h.t, errors.Join(err, f.Close()))
}

// spoil flips a bit somewhere in a file that exists.
func (h *history) spoil(path string) {
	content, err := os.ReadFile(path)
	if err != nil || len(content) == 0 {
		return
	}
	content[h.IntN(len(content))] ^= 1
	must(h.t, os.WriteFile(path, content, 0o600))
}

// restart makes the files look as if the machine had restarted since.
func (h *history) restart() {
	h.restarted = true
	path := h.path("record.lock")
	content, err := os.ReadFile(path)
	must(h.t, err)
	content = bytes.Replace(content, bytes.Fields(content)[2], []byte("00000000-0000-0000-0000-000000000000"), 1)
	must(h.t, os.WriteFile(path, content, 0o600))
}

// compare does everything in parts of that size and at once, and reports whether the
// parts were enough.
func (h *history) compare(size int) (inOrder bool) {
	ctx := h.t.Context()
	w := &world{t: h.t, dir: h.dir, agent: &agent{}, buffered: true}
	w.reopen(dispatch.Options{})
	defer w.Close()
	want, wantErr := dispatch.PlanWhole(ctx, w.Dispatcher, h.id)
	dispatch.SetWindow(w.Dispatcher, size)
	inOrder, _ = dispatch.InOrder(ctx, w.Dispatcher, h.id)
	planned, err := w.PlanRepair(ctx, h.id)
	if (err == nil) != (wantErr == nil) {
		h.t.Fatalf("windows of %d: got %v, want %v", size, err, wantErr)
	}
	if err != nil {
		return inOrder
	}
	h.same("plan", planned, want.Repaired)
	if !h.restarted { // else the next holder of the lock has to complete it first
		h.disagreements(w, want)
	}
	before, _ := os.ReadFile(h.path("pending.json"))
	done, err := w.Repair(ctx, h.id)
	must(h.t, err)
	done.Aside = ""
	h.same("repair", done, want.Repaired)
	after, _ := os.ReadFile(h.path("pending.json"))
	switch {
	case want.Writes:
		h.queue(want.Entries)
	case !bytes.Equal(before, after):
		h.t.Errorf("got the queue written, want it left")
	}
	return inOrder
}

func (h *history) same(what string, got, want dispatch.Repaired) {
	gotFault, wantFault := fmt.Sprint(got.Fault), fmt.Sprint(want.Fault)
	got.Fault, want.Fault = nil, nil
	if gotFault != wantFault || !reflect.DeepEqual(got, want) {
		h.t.Errorf("%s: got %+v, %s, want %+v, %s", what, got, gotFault, want, wantFault)
	}
}

func (h *history) disagreements(w *world, want *dispatch.Whole) {
	got, err := w.Disagreements(h.t.Context(), h.id)
	if err != nil || len(got) == 0 && len(want.Wrong) == 0 {
		must(h.t, err)
		return
	}
	if !reflect.DeepEqual(got, want.Wrong) {
		h.t.Errorf("disagreements: got %v, want %v", got, want.Wrong)
	}
}

// queue compares what the queue holds.
func (h *history) queue(want []queue.Entry) {
	q, err := queue.Open(filepath.Join(h.dir, "sessions", h.id), queue.Options{})
	must(h.t, err)
	defer q.Close()
	found, err := q.Inspect()
	must(h.t, err)
	wantEqual(h.t, "queue", inWords(found.Entries), inWords(want))
}

// inWords says what the list has of entries.
func inWords(entries []queue.Entry) (all []string) {
	for _, e := range entries {
		all = append(all, fmt.Sprint(e.MID, " ", e.Text, " ", e.Attributes, " ", e.Seq, e.HasSeq, " ", e.Doubt))
	}
	return all
}
