package host

import (
	"slices"

	"github.com/docket-go/docket/adapter"
)

// An Emission is one numbered value of a turn, as a recorder gets it.
type Emission struct {
	Token  string
	N      uint64 // 1, 2, 3… within the token
	Native Native
	Value  Value // with [Finished] the last one
}

// kept is an emission that waits in a replay.
type kept struct {
	native Native
	value  Value
	size   int
}

// A replay holds the emissions of one turn, from the first that its recorder has not
// acknowledged.
type replay struct {
	from uint64 // number of the first one kept
	kept []kept
	size int
}

// last returns the number of the newest emission.
func (r *replay) last() uint64 { return r.from + uint64(len(r.kept)) - 1 }

func (r *replay) add(native Native, v Value) {
	k := kept{native, v, sizeOf(native, v)}
	r.kept = append(r.kept, k)
	r.size += k.size
}

// after returns up to limit emissions behind number n. ok is false if the first of
// them is not kept any more, or n was never given.
func (r *replay) after(token string, n uint64, limit int) (batch []Emission, ok bool) {
	if n+1 < r.from || n > r.last() {
		return nil, false
	}
	for i := n + 1 - r.from; i < uint64(len(r.kept)) && len(batch) < limit; i++ {
		batch = append(batch, Emission{token, r.from + i, r.kept[i].native, r.kept[i].value})
	}
	return batch, true
}

// drop forgets what a recorder has committed, up to number n.
func (r *replay) drop(n uint64) {
	n = min(n, r.last())
	if n < r.from {
		return
	}
	count := int(n - r.from + 1)
	for _, k := range r.kept[:count] {
		r.size -= k.size
	}
	r.kept = slices.Delete(r.kept, 0, count)
	r.from = n + 1
}

// sizeOf estimates what an emission takes in memory.
func sizeOf(n Native, v Value) int {
	size := 128 + len(n.Provider) + len(n.Session) + len(n.Turn) + len(n.Item)
	switch v := v.(type) {
	case Text:
		size += len(v.Text)
	case Thought:
		size += len(v.Text)
	case Result:
		size += len(v.Text)
	case Tool:
		size += len(v.ID) + len(v.Title) + len(v.Class)
	case Diagnostic:
		size += len(v.Code) + len(v.Text)
	case Permission:
		size += len(v.ID) + len(v.Title)
		for _, o := range v.Options {
			size += 64 + len(o.ID) + len(o.Name)
		}
	}
	return size
}

// fates remembers what became of the last prompts, oldest forgotten first.
type fates struct {
	of    map[string]adapter.Answer
	order []string
}

const maxFates = 4096

// set notes an answer. That a later hand-over was refused takes nothing back.
func (f *fates) set(mid string, a adapter.Answer) {
	if f.of == nil {
		f.of = map[string]adapter.Answer{}
	}
	before, known := f.of[mid]
	if known && a != adapter.Taken && before != adapter.Refused {
		return
	}
	if !known {
		if len(f.order) == maxFates {
			delete(f.of, f.order[0])
			f.order = slices.Delete(f.order, 0, 1)
		}
		f.order = append(f.order, mid)
	}
	f.of[mid] = a
}
