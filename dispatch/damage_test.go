package dispatch_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var damageMode = flag.String("damage", "", "what TestDamage damages: full is every byte of every file; else a sample, with the seed that is given")

// Any byte of any file of a store is flipped, and any part of it cut off or replaced
// by NULs. Then everything is done with the session that can be done. It never goes
// wrong: no message reaches the agent twice, after its end, out of order or with other
// bytes, but where lostForGood says why nobody can know better. What differs from the
// truth is named by a reader, by verify or by the operation, but for what undetectable
// lists. After a repair the session works.
func TestDamage(t *testing.T) {
	seed := *damageMode
	if seed == "" {
		seed = fmt.Sprint(time.Now().UnixNano())
	}
	var all sync.WaitGroup
	slots := make(chan bool, 32) // most of the time passes in waiting for writers who might be there
	for _, head := range []condition{unconfirmedHead, refusedHead} {
		p := newPatient(t, head)
		if d := p.diagnose(t, damage{}); len(d.named)+len(d.silent)+len(d.wrong) > 0 {
			t.Fatalf("without any damage: named %v, differs %v, wrong %v", d.named, d.silent, d.wrong)
		}
		for _, x := range p.damages(seed) {
			slots <- true
			all.Go(func() {
				defer func() { <-slots }()
				p.diagnose(t, x).report(t, seed)
			})
		}
	}
	all.Wait()
}

// A damage is one file with other content.
type damage struct {
	file    string
	what    string
	content []byte
	removed bool
}

func flipped(name string, whole []byte, at int, bit byte) damage {
	content := slices.Clone(whole)
	content[at] ^= bit
	return damage{file: name, what: fmt.Sprintf("bits %02x of byte %d flipped", bit, at), content: content}
}

func cutOff(name string, whole []byte, at int) damage {
	return damage{file: name, what: fmt.Sprintf("cut to %d of %d bytes", at, len(whole)), content: whole[:at]}
}

func nulled(name string, whole []byte, at, n int) damage {
	content := slices.Clone(whole)
	n = min(n, len(whole)-at)
	clear(content[at : at+n])
	return damage{file: name, what: fmt.Sprintf("%d NULs at byte %d", n, at), content: content}
}

// damages returns what is done to the files: everything everywhere, or a sample that
// has the ends of each file and of each line in it.
func (p *patient) damages(seed string) []damage {
	random := rand.New(rand.NewPCG(hashOf(seed), 0))
	var all []damage
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if p.head == refusedHead && !strings.Contains(name, "pending") && name != p.newest {
			continue // the rest is as in the other one
		}
		whole := p.files[name]
		all = append(all, damage{file: name, what: "removed", removed: true})
		if *damageMode == "full" {
			for at := range whole {
				all = append(all, flipped(name, whole, at, 1), flipped(name, whole, at, 0x20), flipped(name, whole, at, 0x80),
					cutOff(name, whole, at), nulled(name, whole, at, 1), nulled(name, whole, at, 40), nulled(name, whole, at, 512))
			}
			continue
		}
		for _, at := range places(whole, random) {
			bit := byte(1) << random.IntN(8)
			kinds := []damage{flipped(name, whole, at, bit), cutOff(name, whole, at), nulled(name, whole, at, 1+random.IntN(600))}
			all = append(all, kinds[random.IntN(len(kinds))])
		}
	}
	return all
}

// places returns where a file and its lines start and end, and a few others.
func places(whole []byte, random *rand.Rand) []int {
	if len(whole) == 0 {
		return nil
	}
	at := []int{0, len(whole) - 1}
	for i, c := range whole {
		if c == '\n' {
			at = append(at, i, min(i+1, len(whole)-1))
		}
	}
	for range 4 + len(at)/4 {
		at = append(at, random.IntN(len(whole)))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

func hashOf(s string) (sum uint64) {
	for _, c := range []byte(s) {
		sum = sum*1099511628211 ^ uint64(c)
	}
	return sum
}

// A diagnosis is what came out about one damaged copy.
type diagnosis struct {
	*patient
	w      *world
	damage damage
	named  []string // what readers, verify and operations said of it
	silent []string // what differs and nobody named
	wrong  []string // what must never happen
}

func (d *diagnosis) names(what string, err error) bool {
	if err == nil {
		return false
	}
	d.named = append(d.named, what+": "+err.Error())
	return true
}

func (d *diagnosis) never(format string, args ...any) {
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
}

func (d *diagnosis) differs(format string, args ...any) {
	d.silent = append(d.silent, fmt.Sprintf(format, args...))
}

func (d *diagnosis) report(t *testing.T, seed string) {
	t.Helper()
	d.wrong = slices.DeleteFunc(d.wrong, d.lostForGood)
	if len(d.wrong) == 0 && (len(d.silent) == 0 || len(d.named) > 0 || d.undetectable()) {
		return
	}
	slices.SortStableFunc(d.named, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	t.Errorf("%s: %s (seed %s):\n wrong: %s\n differs: %s\n named: %s", d.damage.file, d.damage.what, seed,
		strings.Join(d.wrong, "\n  "), strings.Join(d.silent, "\n  "), strings.Join(d.named[:min(len(d.named), 40)], "\n  "))
}

// lostForGood reports that nothing which is left of the files can know better.
func (d *diagnosis) lostForGood(wrong string) bool {
	switch x := d.damage; {
	case x.removed && x.file == "closed/s2":
		return strings.HasSuffix(wrong, "of a closed sender") // nobody knows that it was closed
	case x.removed && strings.HasSuffix(x.file, "pending.json"):
		return strings.HasPrefix(wrong, "order") // no file is an empty queue, and a new message is its first
	}
	return d.cutShort()
}

// cutShort reports that the newest segment ends earlier, as after a power cut. No
// later one names its digest: what was behind might never have been there.
func (d *diagnosis) cutShort() bool {
	x := d.damage
	return x.file == d.newest && (x.removed || bytes.LastIndexByte(x.content, '\n') < len(d.files[x.file])-1)
}

// forgotten reports that the key's digest is gone with its line. Only of a segment
// that has one behind it is it known which keys it had.
func (d *diagnosis) forgotten(key string) bool {
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte(key)))
	for i := range len(digest) - 12 {
		if bytes.Contains(d.damage.content, []byte(digest[i:i+12])) {
			return false
		}
	}
	return d.damage.file == d.newest
}

// undetectable reports that what differs might be the truth.
func (d *diagnosis) undetectable() bool {
	if d.damage.removed && strings.HasSuffix(d.damage.file, "pending.head") {
		return true // nothing was claimed yet
	}
	return d.cutShort()
}
