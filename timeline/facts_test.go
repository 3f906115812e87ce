package timeline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"pgregory.net/rapid"
)

// headerFacts are the facts of a header, as they are stored.
type headerFacts struct {
	Owed []struct {
		MID string
		Seq uint64
	}
	More *struct{ Seq, Count uint64 }
}

// Whatever was sent and settled, and whenever a header was written: each debt is
// listed or lies behind the first that is not listed, nothing else is listed, and
// when none of the unlisted is owed any more, the header says so.
func TestFactsCoverEveryDebt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := factsModel{seqs: map[string]uint64{}, fold: timeline.Schema.Fold(nil)}
		rt.Repeat(map[string]func(*rapid.T){
			"send":   m.send,
			"settle": m.settle,
			"header": func(*rapid.T) { m.fold = timeline.Schema.Fold(m.fold.Facts()) },
			"":       m.check,
		})
	})
}

type factsModel struct {
	fold segment.Fold
	seqs map[string]uint64
	owed []string
	next uint64
}

func (m *factsModel) add(rt *rapid.T, e timeline.Entry) {
	raw, err := timeline.EncodeEntry(e, now)
	if err != nil {
		rt.Fatal(err)
	}
	m.fold.Add(segment.Line{Bytes: raw, Seq: m.next})
}

func (m *factsModel) send(rt *rapid.T) {
	for range rapid.IntRange(1, 150).Draw(rt, "messages") {
		s := timeline.Sent{MID: fmt.Sprintf("m%d", m.next), NoDebt: m.next%5 == 0}
		m.add(rt, s)
		if !s.NoDebt {
			m.seqs[s.MID] = m.next
			m.owed = append(m.owed, s.MID)
		}
		m.next++
	}
}

func (m *factsModel) settle(rt *rapid.T) {
	for range min(rapid.IntRange(1, 200).Draw(rt, "settlements"), len(m.owed)) {
		i := 0
		if len(m.owed) > 1 {
			i = rapid.IntRange(0, len(m.owed)-1).Draw(rt, "which")
		}
		m.add(rt, timeline.Settled{MID: m.owed[i]})
		m.owed = slices.Delete(m.owed, i, i+1)
	}
}

func (m *factsModel) check(rt *rapid.T) {
	var f headerFacts
	if err := json.Unmarshal(m.fold.Facts(), &f); err != nil {
		rt.Fatal(err)
	}
	if len(f.Owed) > timeline.MaxListed {
		rt.Fatalf("%d debts are listed", len(f.Owed))
	}
	listed := map[string]bool{}
	for _, d := range f.Owed {
		listed[d.MID] = true
		if !slices.Contains(m.owed, d.MID) || m.seqs[d.MID] != d.Seq || f.More != nil && d.Seq >= f.More.Seq {
			rt.Fatalf("%+v is listed; more is %+v", d, f.More)
		}
	}
	unlisted := uint64(0)
	for _, mid := range m.owed {
		if listed[mid] {
			continue
		}
		if unlisted++; f.More == nil || m.seqs[mid] < f.More.Seq {
			rt.Fatalf("%s at %d is not covered by %+v", mid, m.seqs[mid], f.More)
		}
	}
	if f.More != nil && f.More.Count != unlisted || f.More == nil && unlisted > 0 || f.More != nil && unlisted == 0 {
		rt.Fatalf("%d are not listed, the header says %+v", unlisted, f.More)
	}
}

// A settlement that comes twice makes the search longer, and hides no debt.
func TestFactsAfterASettlementTwice(t *testing.T) {
	fold := timeline.Schema.Fold(nil)
	add := func(seq int, e timeline.Entry) {
		raw, err := timeline.EncodeEntry(e, now)
		if err != nil {
			t.Fatal(err)
		}
		fold.Add(segment.Line{Bytes: raw, Seq: uint64(seq)})
	}
	const n = timeline.MaxListed + 2
	for i := range n {
		add(i, message(i))
	}
	for range 2 { // instead of once for each of the two that are not listed
		add(n, timeline.Settled{MID: message(n - 1).MID})
	}
	var f headerFacts
	if err := json.Unmarshal(fold.Facts(), &f); err != nil || f.More == nil || f.More.Seq != timeline.MaxListed {
		t.Errorf("got %+v, %v, want more from %d on", f.More, err, timeline.MaxListed)
	}
}

// Facts that nobody can read are not taken for those of an empty log.
func TestUnreadableFacts(t *testing.T) {
	for _, raw := range []string{"null", "[]", `{"owed":7}`, `{"owed":[`, ""} {
		if got := string(timeline.Schema.Fold(json.RawMessage(raw)).Facts()); got != "null" {
			t.Errorf("%s: got %s, want null", raw, got)
		}
	}
}
