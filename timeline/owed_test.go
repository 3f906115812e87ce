package timeline_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/docket-go/docket/timeline"
)

// Each message is found by its sequence alone. Where there is another line, or who asks
// has enough, it ends.
func TestMessagesBySequence(t *testing.T) {
	l := buffered(t, newDir(t), 500)
	var seqs []uint64
	var want []string
	for i := range 6 {
		w := appendAll(t, l, message(i), timeline.Status{Status: "active"})
		if i%2 > 0 {
			appendAll(t, l, timeline.Settled{MID: message(i).MID})
			continue
		}
		seqs, want = append(seqs, w.FirstSeq), append(want, message(i).MID)
	}
	if got := owedMIDs(t, l); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	read := func(seqs ...uint64) (mids []string, last error) {
		for d, err := range l.Messages(t.Context(), slices.Values(seqs)) {
			if last = err; err == nil {
				mids = append(mids, d.Sent.MID)
			}
		}
		return mids, last
	}
	if got, err := read(seqs...); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := read(seqs[0], seqs[0]+1, seqs[1]); !errors.Is(err, timeline.ErrCorrupt) || !slices.Equal(got, want[:1]) {
		t.Errorf("a line that is no message: got %v, %v", got, err)
	}
	for range l.Debts(t.Context()) {
		break
	}
}

// Each message that is asked for is told once, and those that are not there never.
func TestEachFateIsToldOnce(t *testing.T) {
	l := buffered(t, newDir(t), 500)
	var mids []string
	for i := range 20 {
		appendAll(t, l, message(i))
		if i%3 == 0 {
			appendAll(t, l, timeline.Settled{MID: message(i).MID})
		}
		mids = append(mids, message(i).MID)
	}
	told := map[string]timeline.Fate{}
	err := l.EachFate(t.Context(), append(mids, "m404", mids[0], ""), func(f timeline.Fate) {
		if _, again := told[f.Sent.MID]; again {
			t.Errorf("%s is told again", f.Sent.MID)
		}
		told[f.Sent.MID] = f
	})
	want, wantErr := l.Fates(t.Context(), mids...)
	if err != nil || wantErr != nil || len(told) != len(mids) || !reflect.DeepEqual(told, want) {
		t.Errorf("got %d fates, %v, want the %d of Fates, %v", len(told), err, len(want), wantErr)
	}
}

// A message that the log has twice is owed once, as its last line has it, also where the
// lines are not held against the log at once; and only while that one is not at an end.
func TestMessageThatIsThereTwice(t *testing.T) {
	l := buffered(t, newDir(t), 500)
	again := message(0)
	again.Text = "once more"
	foreign := message(1) // says nothing about the debt
	foreign.NoDebt = true
	appendAll(t, l, message(0), message(1), message(2), message(3), again, message(4), foreign, timeline.Settled{MID: "m2"})
	for _, n := range []int{1, 2, 1000} {
		l.SetDebtsAtOnce(n)
		got, err := l.Owed(t.Context())
		if err != nil || len(got) != 4 || got[2].Sent.MID != "m0" || got[2].Sent.Text != again.Text {
			t.Errorf("%d at once: got %+v, %v, want m0 once, behind m3", n, got, err)
		}
	}
	appendAll(t, l, timeline.Settled{MID: "m0"})
	l.SetDebtsAtOnce(1)
	if got, want := owedMIDs(t, l), []string{"m1", "m3", "m4"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
