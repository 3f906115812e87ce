package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// States says of each message what State says, and of nothing else.
func TestStatesAreThatOfEachMessage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: t, dir: t.TempDir(), agent: &agent{}, buffered: true}
		w.reopen(dispatch.Options{})
		w.create("s1")
		mids := []string{"unknown", ""}
		rt.Repeat(map[string]func(*rapid.T){
			"send": func(rt *rapid.T) {
				for range rapid.IntRange(1, 3).Draw(rt, "some") {
					mids = append(mids, w.later("s1", "message "+strconv.Itoa(len(mids))))
				}
			},
			"keyed": func(*rapid.T) {
				key := "k" + strconv.Itoa(len(mids))
				mids = append(mids, w.send("s1", dispatch.Message{Text: key, Key: key, NoDrain: true}).MID)
			},
			"foreign": func(*rapid.T) { mids = append(mids, w.foreign("s1", len(mids))) },
			"drain": func(rt *rapid.T) {
				left := rapid.IntRange(0, 5).Draw(rt, "taken")
				end := rapid.SampledFrom([]error{adapter.ErrBusy, errors.New("lost")}).Draw(rt, "end")
				w.agent.set(func(adapter.Prompt) error {
					if left--; left < 0 {
						return end
					}
					return nil
				})
				w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			},
			"revoke": func(rt *rapid.T) {
				if owed := w.pending("s1"); len(owed) > 0 {
					must(t, w.Revoke(t.Context(), "s1", rapid.SampledFrom(owed).Draw(rt, "which")))
				}
			},
			"ask": func(rt *rapid.T) {
				sameStates(rt, w, rapid.SliceOfN(rapid.SampledFrom(mids), 0, 5).Draw(rt, "asked"))
			},
		})
		sameStates(rt, w, mids)
	})
}

// foreign appends a message of another writer, who leaves no proof of delivery.
func (w *world) foreign(id string, n int) string {
	w.t.Helper()
	s, err := w.store.Open(id)
	must(w.t, err)
	defer s.Release()
	mid := fmt.Sprint("foreign-", n)
	_, err = s.Timeline().Append(w.t.Context(), timeline.Sent{MID: mid, Text: "x", NoDebt: true})
	must(w.t, err)
	return mid
}

func sameStates(rt *rapid.T, w *world, asked []string) {
	got, err := w.States(w.t.Context(), "s1", asked)
	if err != nil {
		rt.Fatal(err)
	}
	want := map[string]dispatch.State{}
	for _, mid := range asked {
		s, err := w.State(w.t.Context(), "s1", mid)
		if errors.Is(err, dispatch.ErrNoMessage) {
			continue
		}
		if err != nil {
			rt.Fatal(err)
		}
		want[mid] = s
	}
	if len(got) != len(want) {
		rt.Fatalf("got %d states, want %d", len(got), len(want))
	}
	for mid, s := range want {
		if got[mid] != s {
			rt.Fatalf("message %q: got %+v, want %+v", mid, got[mid], s)
		}
	}
}

func TestStatesOfEachCondition(t *testing.T) {
	w := newWorld(t, "s1")
	var mids []string
	for range 4 {
		mids = append(mids, w.later("s1", "x"))
	}
	must(t, w.Revoke(t.Context(), "s1", mids[3]))
	left := 1
	w.agent.set(func(adapter.Prompt) error {
		if left--; left < 0 {
			return errors.New("the line went dead")
		}
		return nil
	})
	w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	mids = append(mids, w.foreign("s1", 1))
	got, err := w.States(t.Context(), "s1", slices.Concat(mids, mids[:1], []string{"unknown"}))
	must(t, err)
	want := []dispatch.Condition{dispatch.Delivered, dispatch.Unconfirmed, dispatch.Owed, dispatch.Revoked, dispatch.Delivered}
	for i, mid := range mids {
		if got[mid].Condition != want[i] || got[mid].MID != mid || got[mid].AcceptedAt.IsZero() {
			t.Errorf("message %d: got %+v, want %s", i, got[mid], want[i])
		}
	}
	if len(got) != len(mids) {
		t.Errorf("got %d states, want %d: what is not known is left out", len(got), len(mids))
	}
	none, err := w.States(t.Context(), "s1", nil)
	if err != nil || none == nil || len(none) != 0 {
		t.Errorf("of nothing: got %v, %v", none, err)
	}
}

func TestStatesRefuses(t *testing.T) {
	w := newWorld(t, "s1")
	mid := w.later("s1", "x")
	_, err := w.States(t.Context(), "nobody", []string{mid})
	wantIs(t, err, session.ErrNotFound)
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = w.States(ended, "s1", []string{mid})
	wantIs(t, err, context.Canceled)
	must(t, os.WriteFile(filepath.Join(w.dir, "sessions", "s1", "pending.json"), []byte("[{"), 0o600))
	_, err = w.States(t.Context(), "s1", []string{mid})
	wantIs(t, err, queue.ErrCorrupt)
}

// BenchmarkStates asks for the newest 100 of 10,000 messages at once, and one by one.
func BenchmarkStates(b *testing.B) {
	w := owing(b, 0)
	var mids []string
	for range 10_000 {
		mids = append(mids, w.send("s1", dispatch.Message{Text: "run the tests and say what failed"}).MID)
	}
	mids = mids[len(mids)-100:]
	b.Run("at once", func(b *testing.B) {
		for b.Loop() {
			if got, err := w.States(b.Context(), "s1", mids); err != nil || len(got) != len(mids) {
				b.Fatal(len(got), err)
			}
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for b.Loop() {
			for _, mid := range mids {
				if _, err := w.State(b.Context(), "s1", mid); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
