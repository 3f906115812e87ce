package segment_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// A seen line is what forward and backward must agree on.
type seenLine struct {
	text   string
	class  segment.Class
	offset int64
}

func collect(t *testing.T, seq func(func(segment.Line, error) bool)) (out []seenLine) {
	seq(func(line segment.Line, err error) bool {
		must(t, err)
		if line.Class == segment.Unreadable && !errors.Is(line.Err, segment.ErrCorrupt) {
			t.Fatalf("unreadable line with error %v", line.Err)
		}
		out = append(out, seenLine{string(line.Bytes), line.Class, line.Offset})
		return true
	})
	return out
}

// Whatever bytes a segment holds, forward and backward see the same lines, up to
// the last newline, and the next write is appended whole.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "\n\n\n", "x", "{}\n", "{\"kind\":\"p\",\"seq\":7}\n{\"kind\":\"p\",\"seq\":3}\n{\"kind\":\"p\"}\n",
		"{\"kind\":\"p\"}\n\x00\x00\x00", "{\"kind\":\"p\"}\n\x00\x00\n{\"kind\":\"x\",\"seq\":99999999999999999}\n",
		`{"ts":"2026-07-16T00:00:00.000Z","kind":"segment","version":1,"epoch":"00000000000000000000000000000001","first":0,"prev":null,"facts":null,"check":"00000000","seq":0}` + "\n",
		"{\"kind\":\"p\",\"id\":\"\xff\"}\r\n{\"kind\":\"p\",\"id\":\"\\ud800\"}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fx := copyOf(t, map[string][]byte{"timeline/000000000001.ndjson": data}, segment.Options{Buffered: true})
		defer fx.close()
		fx.speedUp(t)
		v, err := fx.log.View(context.Background())
		must(t, err)
		forward := collect(t, v.Forward(context.Background(), 0))
		backward := collect(t, v.Backward(context.Background()))
		if len(forward) != len(backward) {
			t.Fatalf("got %d lines forward, %d backward", len(forward), len(backward))
		}
		var text []byte
		for i, line := range forward {
			if back := backward[len(backward)-1-i]; line != back {
				t.Fatalf("line %d: got %v forward, %v backward", i, line, back)
			}
			text = append(append(text, line.text...), '\n')
		}
		if whole := data[:bytes.LastIndexByte(data, '\n')+1]; !bytes.Equal(text, whole) {
			t.Fatalf("got %q, want %q", text, whole)
		}
		w, err := fx.tryWrite(public("next"))
		if errors.Is(err, segment.ErrVersion) {
			return
		}
		must(t, err)
		items, _ := readFrom(t, fx.log, w.First)
		if len(items) == 0 || items[len(items)-1] != (item{"next", true, w.First}) {
			t.Fatalf("got %v after the write, want next with sequence %d", items, w.First)
		}
	})
}

// A sealed file of any bytes is read to its end: nothing panics or loops.
func FuzzSealed(f *testing.F) {
	dir := f.TempDir()
	fx := newFixture(f, dir, segment.Options{SegmentBytes: 500, Buffered: true})
	filled(f, fx, 10)
	sealed, err := fx.log.Seal(context.Background(), fx.locks)
	must(f, err)
	data := fileBytes(f, sealed[0].Path)
	fx.close()
	f.Add(data)
	f.Add(data[len(data)/2:])
	f.Add(data[:len(data)-5])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		fx := copyOf(t, map[string][]byte{"timeline/000000000001.ndjson.zst": data}, segment.Options{Buffered: true})
		defer fx.close()
		fx.speedUp(t)
		v, err := fx.log.View(context.Background())
		must(t, err)
		collect(t, v.Forward(context.Background(), 0))
		collect(t, v.Backward(context.Background()))
		w := fx.write(t, public("next"))
		items, _ := readFrom(t, fx.log, w.First)
		if len(items) == 0 || items[len(items)-1] != (item{"next", true, w.First}) {
			t.Fatalf("got %v after the write, want next with sequence %d", items, w.First)
		}
	})
}

// What parses as a header is written back to the same bytes.
func FuzzHeader(f *testing.F) {
	for _, facts := range []string{"null", `{"lines":3}`, `"text"`, `{"keys":"x"}`} {
		for _, keys := range []string{"", "AAAA"} {
			f.Add(segment.NewHeader([]byte(facts), keys))
		}
	}
	f.Add([]byte(`{"ts":"","kind":"segment","version":18446744073709551615,"epoch":"","first":,"prev":null,"check":"00000000","seq":0}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		again, err := segment.RewriteHeader(line)
		if err != nil {
			return
		}
		if !bytes.Equal(again, line) {
			t.Errorf("got %s, want %s", again, line)
		}
	})
}

// Any bytes as summary or seek table give an error or frames inside the file.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("PM*M\x02\x00\x00\x00{}"))
	f.Add([]byte("^*M\x18\x09\x00\x00\x00\x00\x00\x00\x00\x80\xb1\xea\x92\x8f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, end := range segment.IndexEnds(data) {
			if end > int64(len(data)) {
				t.Errorf("a frame ends at byte %d of %d", end, len(data))
			}
		}
	})
}

// A summary that is read by its spelling is what encoding/json reads.
func FuzzSummary(f *testing.F) {
	for _, frames := range []string{"[]", "[[1,2,3]]", "[[10,20,30],[40,50,18446744073709551615]]", "[,[1,2,3]]", "[[1,2,3]", "[[1,2]]"} {
		f.Add([]byte(`{"kind":"segment-summary","version":1,"segment":2,"first":3,"next":4,"bytes":5,"committed":6,"sha256":"ab","packed":4294967295,"frames":` + frames + `   ,"check":"00000000"}`))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		quick, slow := segment.DecodeSummaries(text)
		if quick != "" && slow != "" && quick != slow {
			t.Errorf("%q: got %s, want %s", text, quick, slow)
		}
	})
}

func TestHeaderWithoutOneByte(t *testing.T) {
	line := segment.NewHeader([]byte(`{"lines":3}`), "AAAA")
	for i := range line {
		bad := bytes.Clone(line)
		bad[i] ^= 1
		if _, err := segment.RewriteHeader(bad); err == nil {
			t.Errorf("byte %d changed: no error for %s", i, bad)
		}
	}
}

func FuzzLastNewline(f *testing.F) {
	f.Add([]byte("a\nb\n\v\x8a0123456789"))
	f.Add([]byte("01234567\n"))
	f.Fuzz(func(t *testing.T, p []byte) {
		if got, want := segment.LastNewline(p), bytes.LastIndexByte(p, '\n'); got != want {
			t.Errorf("%q: got %d, want %d", p, got, want)
		}
	})
}
