package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// A model is what the queue should be, next to two handles on a real one.
type model struct {
	t       *rapid.T
	dir     string
	handles [2]*desk
	book    book
	claimed string // the mid of an unconfirmed hand-over
	handed  []string
	next    int
	copies  []string // lists that there were
}

// Any mix of enqueues, passes with any answers, removals, compactions, reopened and
// interleaved handles, rewrites by another program and deaths at any byte or step
// leaves what the plain list says.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "model")
		if err != nil {
			rt.Fatal(err)
		}
		m := &model{t: rt, dir: dir}
		for i := range m.handles {
			m.reopen(i)
		}
		defer func() { m.handles[0].Close(); m.handles[1].Close() }()
		if rapid.Bool().Draw(rt, "recovered") { // else there is no mark before a death
			m.handles[0].must((*lock.Record).Recovered)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"enqueue":      func(rt *rapid.T) { m.enqueue(rt) },
			"enqueue more": func(rt *rapid.T) { m.enqueue(rt) },
			"drain":        m.drain,
			"revoke":       m.revoke,
			"decide":       m.decide,
			"reopen":       func(rt *rapid.T) { m.reopen(rapid.IntRange(0, 1).Draw(rt, "handle")) },
			"other writer": m.otherWriter,
			"tear":         m.tear,
			"die":          m.die,
			"put back":     m.putBack,
			"":             m.agree,
		})
	})
}

func (m *model) reopen(i int) {
	if m.handles[i] != nil {
		m.handles[i].Close()
	}
	m.handles[i] = openDesk(m.t, m.dir, queue.Options{})
	m.handles[i].SetCompactAt(400)
	m.handles[i].SetSpareAt(1000)
}

func (m *model) handle(rt *rapid.T) *desk {
	d := m.handles[rapid.IntRange(0, 1).Draw(rt, "handle")]
	d.t = rt
	return d
}

func (m *model) newMID() string {
	m.next++
	mid := fmt.Sprintf("m%d", m.next)
	m.book.accepted = append(m.book.accepted, mid)
	return mid
}

func (m *model) enqueue(rt *rapid.T) {
	d := m.handle(rt)
	e := entry(m.newMID())
	e.Text += rapid.StringN(0, 40, -1).Draw(rt, "text")
	reserve := rapid.Bool().Draw(rt, "reserve")
	d.must(func(held *lock.Record) error {
		if reserve {
			if err := d.Reserve(held, e); err != nil {
				return err
			}
		}
		return d.Enqueue(held, e)
	})
}

// handover answers with Taken for some entries, then in a drawn way.
func (m *model) handover(taken int, answer string) queue.Handover {
	return queue.Handover{
		Insert: func(_ context.Context, e queue.Entry) (queue.Answer, error) {
			taken--
			switch {
			case taken >= 0 || answer == "taken":
				m.handed = append(m.handed, e.MID)
				return queue.Taken, nil
			case answer == "refused":
				return queue.Refused, errBusy
			}
			m.claimed = e.MID
			m.handed = append(m.handed, e.MID)
			if answer == "panic" {
				panic("boom")
			}
			return queue.Unconfirmed, errBusy
		},
		Settle: func(_ context.Context, _ *lock.Record, e queue.Entry) error {
			m.book.ended = append(m.book.ended, e.MID)
			return nil
		},
	}
}

func (m *model) drawHandover(rt *rapid.T) queue.Handover {
	answer := rapid.SampledFrom([]string{"taken", "refused", "unconfirmed", "panic"}).Draw(rt, "answer")
	return m.handover(rapid.IntRange(0, 3).Draw(rt, "taken"), answer)
}

func (m *model) drain(rt *rapid.T) {
	d := m.handle(rt)
	before := slices.Clone(m.handed)
	owed := m.book.owed()
	got, err := d.drain(m.drawHandover(rt))
	left := m.book.owed()
	if (err == nil) != (len(left) == 0) || got.Owed != len(left) {
		rt.Fatalf("pass: got %+v, %v, want %d left", got, err, len(left))
	}
	equal(rt, "delivered", got.MIDs, owed[:len(owed)-len(left)])
	equal(rt, "handed over in order", m.handed[:len(before)], before)
}

func (m *model) revoke(rt *rapid.T) {
	d := m.handle(rt)
	owed := m.book.owed()
	if len(owed) == 0 {
		rt.Skip("nothing is owed")
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(owed), 1, 3, rapid.ID).Draw(rt, "mids")
	m.book.ended = append(m.book.ended, some...)
	d.remove(some...)
}

// decide ends an unconfirmed hand-over by what somebody saw.
func (m *model) decide(rt *rapid.T) {
	if !slices.Contains(m.book.owed(), m.claimed) {
		rt.Skip("nothing is unconfirmed")
	}
	d := m.handle(rt)
	if rapid.Bool().Draw(rt, "arrived") {
		m.book.ended = append(m.book.ended, m.claimed)
		d.remove(m.claimed)
	} else {
		m.handed = slices.DeleteFunc(m.handed, func(mid string) bool { return mid == m.claimed })
		d.must(func(held *lock.Record) error { return d.Unclaim(held, m.claimed) })
	}
	m.claimed = ""
}

// otherWriter adds an entry as the reference does: it reads the list, and renames a
// pretty-printed one into its place.
func (m *model) otherWriter(rt *rapid.T) {
	d := m.handle(rt)
	list := []map[string]any{}
	if content := d.content(); content != "" {
		list = generic(rt, content)
	}
	mid := m.newMID()
	list = append(list, map[string]any{"mid": mid, "text": "text of " + mid, "from": nil, "other": []int{1}})
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		rt.Fatal(err)
	}
	tmp := filepath.Join(m.dir, "pending.json.tmp")
	if err := errors.Join(os.WriteFile(tmp, data, 0o600), os.Rename(tmp, d.path())); err != nil {
		rt.Fatal(err)
	}
}

// tear lets one edit die after a drawn number of bytes.
func (m *model) tear(rt *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(rt, "handle")
	m.handles[i].tearAt(rapid.IntRange(0, 250).Draw(rt, "bytes"))
	m.lastAct(rt, i, func() {})
}

// die lets a process die at a drawn step.
func (m *model) die(rt *rapid.T) {
	i := rapid.IntRange(0, 1).Draw(rt, "handle")
	m.lastAct(rt, i, dieAtStep(rapid.IntRange(1, 12).Draw(rt, "step")))
}

// lastAct does something that may end in death, and sees to it that the next holder
// recovers. The claim is the one thing that only the queue knows then.
func (m *model) lastAct(rt *rapid.T, i int, disarm func()) {
	d := m.handles[i]
	d.t = rt
	owed := m.book.owed()
	act := rapid.SampledFrom([]string{"enqueue", "drain", "revoke"}).Draw(rt, "act")
	h := m.drawHandover(rt)
	mid := rapid.IntRange(0, 99).Draw(rt, "mid")
	d.dies(func() {
		switch {
		case act == "enqueue" || len(owed) == 0:
			m.next++
			m.book.accept(d, fmt.Sprintf("m%d", m.next))
		case act == "drain":
			d.drain(h)
		default:
			m.book.end(d, owed[mid%len(owed)])
		}
	})
	disarm()
	m.reopen(i)
	m.handles[i].t = rt
	m.book.recover(m.handles[i])
	entries, err := m.handles[i].List()
	if err != nil {
		rt.Fatal(err)
	}
	m.claimed = ""
	if len(entries) > 0 && entries[0].Unconfirmed() {
		m.claimed = entries[0].MID
	}
}

// agree compares everything that can be seen with the plain list.
func (m *model) agree(rt *rapid.T) {
	want := m.book.owed()
	for _, d := range m.handles {
		d.t = rt
		entries, err := d.List()
		if err != nil {
			rt.Fatalf("list: %v", err)
		}
		equal(rt, "list", mids(entries), want)
		d.lookAtHead(rt, entries)
		for i, e := range entries {
			if e.Unconfirmed() != (i == 0 && e.MID == m.claimed) {
				rt.Fatalf("%s: unconfirmed is %v, and %q was claimed", e.MID, e.Unconfirmed(), m.claimed)
			}
			if slices.Contains(m.handed, e.MID) && e.MID != m.claimed {
				rt.Fatalf("%s was handed over and is owed as if it was not", e.MID)
			}
			if !strings.HasPrefix(e.Text, "text of "+e.MID) {
				rt.Fatalf("%s: got text %q", e.MID, e.Text)
			}
		}
	}
	seen := slices.Clone(m.handed)
	slices.Sort(seen)
	if len(slices.Compact(seen)) != len(m.handed) {
		rt.Fatalf("handed over twice: %v", m.handed)
	}
	m.handles[0].atRest(want)
}

// putBack sees whether the list counts as the one that was left, and a copy of an earlier
// one in its place does not.
func (m *model) putBack(rt *rapid.T) {
	marked := false
	replaced := func() (replaced bool) {
		d := openDesk(rt, m.dir, queue.Options{})
		defer d.Close()
		d.must(func(held *lock.Record) error {
			replaced = d.Replaced(held)
			_, marked = held.Mark()
			marked = marked && !held.Interrupted()
			return nil
		})
		return replaced
	}
	if replaced() {
		rt.Fatal("the list counts as another than the one that was left")
	}
	path, now := m.handles[0].path(), m.handles[0].content()
	if m.copies = append(m.copies, now); !marked {
		return
	}
	put := func(content string) {
		err := os.WriteFile(path, []byte(content), 0o600)
		if content == "" {
			err = os.Remove(path)
		}
		if err != nil {
			rt.Fatal(err)
		}
	}
	older := m.copies[rapid.IntRange(0, len(m.copies)-1).Draw(rt, "copy")]
	if older == "" || slices.Equal(names(rt, older), m.book.owed()) {
		return
	}
	put(older)
	if !replaced() {
		rt.Fatalf("%q counts as the list that was left, %q", older, now)
	}
	put(now)
}

// names are the mids in a list.
func names(t tester, content string) (all []string) {
	for _, e := range generic(t, content) {
		all = append(all, e["mid"].(string))
	}
	return all
}

// lookAtHead reads the oldest entry, which another program's list is rewritten for,
// in one step of three.
func (d *desk) lookAtHead(rt *rapid.T, entries []queue.Entry) {
	if rapid.IntRange(0, 2).Draw(rt, "look at head") > 0 {
		return
	}
	mid, err := d.headOr()
	if err != nil || len(entries) == 0 && mid != "" || len(entries) > 0 && mid != entries[0].MID {
		rt.Fatalf("head: got %q, %v, want that of %v", mid, err, mids(entries))
	}
}
