package segment_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/timeline/segment"
)

// summed returns stored lines with sequences of each length.
func summed(n int) (lines [][]byte) {
	for i := range n {
		seq := uint64(math.Pow10(i%18)) - uint64(i%2)
		line := fmt.Sprintf(`{"kind":"p","id":"l%d","x":"%s"}`, i, strings.Repeat("é\\n ", i%37))
		lines = append(lines, segment.AppendLine(nil, []byte(line), seq))
	}
	return lines
}

// A run is the lines that fit, and leaves their bytes as they were.
func TestRunOfWholeLines(t *testing.T) {
	lines := summed(60)
	p := bytes.Join(lines, nil)
	before := bytes.Clone(p)
	got, seqs := segment.RunAhead(p)
	if got != len(p) || len(seqs) != len(lines) {
		t.Fatalf("got %d bytes in %d lines, want %d in %d", got, len(seqs), len(p), len(lines))
	}
	for i, seq := range seqs {
		if want := uint64(math.Pow10(i%18)) - uint64(i%2); seq != want {
			t.Errorf("line %d: got sequence %d, want %d", i, seq, want)
		}
	}
	if !bytes.Equal(p, before) {
		t.Error("the bytes were changed")
	}
}

// A sequence is read right whichever stands before it, where readers expect the same or
// the next one.
func TestRunOfNeighbours(t *testing.T) {
	for _, tt := range []struct {
		seqs []uint64
		held int // how many of them the first run holds
	}{
		{[]uint64{0, 0, 1, 2, 2, 3}, 6},
		{[]uint64{8, 9, 10, 10, 11}, 5},
		{[]uint64{18, 19, 20, 19, 119, 9, 19}, 7},
		{[]uint64{9999998, 9999999, 10000000, 10000001}, 4},
		{[]uint64{99999998, 99999999, 100000000, 100000001, 1}, 5},
		{[]uint64{12345678, 112345678}, 1}, // eight digits are seen at once
		{[]uint64{12345678, 112345679}, 1},
		{[]uint64{112345678, 12345678, 12345679}, 3},
	} {
		var p []byte
		for _, seq := range tt.seqs {
			p = segment.AppendLine(p, []byte(`{"kind":"p","id":"l"}`), seq)
		}
		if _, got := segment.RunAhead(p); !slices.Equal(got, tt.seqs[:tt.held]) {
			t.Errorf("got %v, want %v", got, tt.seqs[:tt.held])
		}
	}
}

// Whichever bit of a run is changed, no run holds the line that it is in.
func TestRunFindsEachBit(t *testing.T) {
	var neighbours [][]byte
	for i := range 20 {
		neighbours = append(neighbours, segment.AppendLine(nil, []byte(`{"kind":"p","id":"l"}`), uint64(100+i/2)))
	}
	for _, lines := range [][][]byte{summed(40), neighbours} {
		p := bytes.Join(lines, nil)
		before := bytes.Clone(p)
		start, line := 0, 0
		for i := range p {
			if i == start+len(lines[line]) {
				start, line = i, line+1
			}
			for bit := range 8 {
				p[i] ^= 1 << bit
				if got, _ := segment.RunAhead(p); got > start {
					t.Fatalf("bit %d of byte %d: got a run of %d bytes, want at most %d", bit, i, got, start)
				}
				p[i] ^= 1 << bit
			}
		}
		if !bytes.Equal(p, before) {
			t.Error("the bytes were changed")
		}
	}
}

// Whatever a segment holds, its lines are the same whether they are held against
// their checksums together or each by itself.
func TestRunsAreTheLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var data []byte
		for seq := range rapid.IntRange(1, 200).Draw(rt, "lines") {
			text := fmt.Sprintf(`{"kind":%q,"id":"l%d","x":"%0*d"}`, rapid.SampledFrom([]string{"p", "p", "x"}).Draw(rt, "kind"), seq, rapid.SampledFrom([]int{0, 90, 300, 20_000}).Draw(rt, "pad"), 0)
			if rapid.IntRange(0, 20).Draw(rt, "foreign") == 0 {
				data = append(append(data, text...), '\n')
				continue
			}
			data = segment.AppendLine(data, []byte(text), uint64(seq))
		}
		for range rapid.IntRange(0, 3).Draw(rt, "damages") {
			at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
			data[at] = rapid.Byte().Draw(rt, "byte")
		}
		fx := copyOf(t, map[string][]byte{"timeline/000000000001.ndjson": append(data, '\n')}, segment.Options{Buffered: true})
		defer fx.close()
		want, err := fx.log.SingleLines(1)
		must(rt, err)
		v, err := fx.log.View(context.Background())
		must(rt, err)
		i := 0
		for got, err := range v.Forward(context.Background(), 0) {
			must(rt, err)
			if !reflect.DeepEqual(got, want[i]) {
				rt.Fatalf("line %d: got %+v, want %+v", i, got, want[i])
			}
			i++
		}
		if i != len(want) {
			rt.Fatalf("got %d lines forward, want %d", i, len(want))
		}
		slices.Reverse(want)
		i = 0
		for got, err := range v.Backward(context.Background()) {
			must(rt, err)
			if w := want[i]; got.Offset != w.Offset || got.Class != w.Class || got.Intact != w.Intact || !bytes.Equal(got.Bytes, w.Bytes) {
				rt.Fatalf("line %d from the end: got %+v, want %+v", i, got, w)
			}
			i++
		}
		if i != len(want) {
			rt.Fatalf("got %d lines backward, want %d", i, len(want))
		}
	})
}
