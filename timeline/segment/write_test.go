package segment_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

func TestWriteAndRead(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 600})
	defer f.close()
	var want []item
	next := uint64(0)
	for i := range 20 {
		id := fmt.Sprint("m", i)
		var w segment.Written
		if i%4 == 3 {
			w = f.write(t, private(id))
			want = append(want, item{id, false, next})
		} else {
			w = f.write(t, public(id))
			want = append(want, item{id, true, next})
			next++
		}
		if w.Next != next {
			t.Fatalf("after %s: got next %d, want %d", id, w.Next, next)
		}
		must(t, f.log.Sync(w))
	}
	got, bad := readFrom(t, f.log, 0)
	sameItems(t, "forward", got, want)
	back, _ := readBack(t, f.handle(t))
	sameItems(t, "backward", back, want)
	if len(bad) > 0 {
		t.Fatalf("got damaged lines %v", bad)
	}
	for from := range next + 1 {
		got, _ := readFrom(t, f.handle(t), from)
		if len(got) > 0 && got[0].seq < from {
			t.Fatalf("from %d: got %v first", from, got[0])
		}
		publics := 0
		for _, it := range got {
			if it.public {
				publics++
			}
		}
		if publics != int(next-from) {
			t.Fatalf("from %d: got %d public lines, want %d", from, publics, next-from)
		}
	}
	if first := string(fileBytes(t, segmentPath(f, 2))); !strings.HasPrefix(first, `{"ts":"2023-11-14T22:13:20.123Z","kind":"segment","version":1,"epoch":"`) {
		t.Fatalf("got header %s", first)
	}
}

func TestWriteRefuses(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{MaxLineBytes: 100})
	defer f.close()
	for _, tt := range []struct {
		name, line string
		want       error
	}{
		{"no object", `[1]`, segment.ErrLine},
		{"empty", ``, segment.ErrLine},
		{"line break", "{\"kind\":\"p\"\n}", segment.ErrLine},
		{"NUL", "{\"kind\":\"p\x00\"}", segment.ErrLine},
		{"unknown to the schema", `{"x":1}`, segment.ErrLine},
		{"too large", public(strings.Repeat("x", 100)), segment.ErrTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := f.tryWrite(public("good"), tt.line); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	if _, err := f.log.Write(nil, []byte(public("x"))); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("without a lock: got %v, want %v", err, lock.ErrNotHeld)
	}
	if got, _ := readFrom(t, f.log, 0); len(got) > 0 {
		t.Errorf("a refused write left %v", got)
	}
}

// What fits its checksum is classified as such, and nothing else is: not what another
// program wrote, not what was damaged since.
func TestIntactLines(t *testing.T) {
	trusted := map[string]bool{}
	f := newFixture(t, t.TempDir(), segment.Options{})
	defer f.close()
	f.opts.Schema = trustingSchema{trusted: trusted}
	f.write(t, public("m1"), public("m2"), public("m3"))
	path := segmentPath(f, 1)
	whole := fileBytes(t, path)
	damaged := bytes.Replace(whole, []byte("m2"), []byte("mX"), 1)
	must(t, os.WriteFile(path, append(damaged, public("foreign")+"\n"...), 0o600))
	var intact []string
	v, err := f.handle(t).View(t.Context())
	must(t, err)
	for line, err := range v.Forward(t.Context(), 0) {
		must(t, err)
		if line.Intact {
			intact = append(intact, idOf(line.Bytes))
		}
	}
	if want := []string{"m1", "m3"}; !slices.Equal(intact, want) {
		t.Errorf("got %v as intact, want %v", intact, want)
	}
	if got := slices.Sorted(maps.Keys(trusted)); !slices.Equal(got, []string{"m1", "m3"}) {
		t.Errorf("the schema was asked about %v as intact", got)
	}
}

// Whoever encodes the lines of a log itself is not asked again whether they are lines.
func TestEncodedLines(t *testing.T) {
	for _, encoded := range []bool{true, false} {
		trusted := map[string]bool{}
		f := newFixture(t, t.TempDir(), segment.Options{Encoded: encoded})
		f.opts.Schema = trustingSchema{trusted: trusted}
		f.log = f.handle(t)
		if w := f.write(t, public("m1"), private("m2")); w.Next != 1 || len(trusted) == 2 != encoded {
			t.Errorf("encoded %v: got %+v, and %v as intact", encoded, w, trusted)
		}
		f.close()
	}
}

// A trustingSchema notes the ids of the lines that it was told are intact.
type trustingSchema struct {
	testSchema
	trusted map[string]bool
}

func (s trustingSchema) ClassifyIntact(line []byte) segment.Class {
	s.trusted[idOf(line)] = true
	return s.Classify(line)
}

func (s trustingSchema) KeyIntact(line []byte) ([]byte, bool) { return s.Key(line) }

func idOf(line []byte) string {
	var v testLine
	_ = json.Unmarshal(line, &v)
	return v.ID
}

// A schema whose facts would break the header stops the log before it is there.
func TestFactsThatAreNoJSON(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 300})
	defer f.close()
	f.write(t, public("m1"), public("m2"))
	f.opts.Schema = brokenSchema{}
	f.log = f.handle(t)
	if _, err := f.tryWrite(public("m3")); err == nil || !strings.Contains(err.Error(), "facts") {
		t.Fatalf("got %v, want an error about the facts", err)
	}
	f.opts.Schema = testSchema{}
	f.log = f.handle(t)
	f.write(t, public("m3"))
	got, bad := readFrom(t, f.log, 0)
	sameItems(t, "afterwards", got, []item{{"m1", true, 0}, {"m2", true, 1}, {"m3", true, 2}})
	if len(bad) > 0 {
		t.Errorf("got damaged lines %v", bad)
	}
}

type brokenSchema struct{ testSchema }

func (brokenSchema) Fold(json.RawMessage) segment.Fold { return brokenFold{} }

type brokenFold struct{}

func (brokenFold) Add(segment.Line) {}

func (brokenFold) Facts() json.RawMessage { return json.RawMessage("{\n}") }
