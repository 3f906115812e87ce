package timeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/timeline"
)

// fromAll is what Lines has to yield, one text a step.
func fromAll(ctx context.Context, l *timeline.Log) (steps []string) {
	for e, err := range l.All(ctx) {
		if err != nil {
			steps = append(steps, fmt.Sprint("error: ", err, errors.Is(err, timeline.ErrCorrupt)))
			continue
		}
		steps = append(steps, string(e.JSON()))
	}
	return steps
}

// fromLines is what it yields to a consumer that does to each line what it may.
func fromLines(ctx context.Context, l *timeline.Log) (steps []string) {
	for line, err := range l.Lines(ctx) {
		if err != nil {
			steps = append(steps, fmt.Sprint("error: ", err, errors.Is(err, timeline.ErrCorrupt)))
			continue
		}
		steps = append(steps, string(line))
		line = append(line, strings.Repeat("\n", 1000)...)
		clear(line)
	}
	return steps
}

func sameSteps(t interface{ Fatalf(string, ...any) }, got, want []string) {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("step %d of %d: got %q, want %q", i, len(want), got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
		}
	}
}

// intact is a line that fits its checksum, whoever wrote it.
func intact(stem string, seq int) string {
	end := fmt.Sprintf(`,"seq":%d}`, seq)
	return fmt.Sprintf(`%s,"crc":"%08x"%s`, stem, crc32.Checksum([]byte(stem+end), crc32.MakeTable(crc32.Castagnoli)), end)
}

// Lines of other hands that fit their checksums are shown as All shows them.
func TestLinesOfOthers(t *testing.T) {
	const sent = `{"ts":"2026-11-30T09:30:15.780Z","kind":"sent","mid":"m","text":`
	for _, stem := range []string{
		sent + `"go","from":null`,
		sent + `"go","from":null,"replyVia":"note"`,
		sent + `"go","from":null,"replyVia":null`,
		sent + `"go","from":null,"docket":{}`,
		sent + `"a \"quote\" \\","from":"q"`,
		sent + `"a bad \escape","from":"q"`,
		sent + `"half a \ud83d pair","from":"q"`,
		sent + "\"no UTF-8 \xff\",\"from\":\"q\"",
		sent + "\"go\",\"from\":\"\xc3\",\"docket\":{}",
		sent + "\"a control \x01\",\"from\":null",
		sent + `"go","from":null ,"docket":{}`,
		sent + `"go","from":null,"x":1`,
		sent + `"go","from":null,"x":"y"`,
		sent + `"go","from":null,"docket":{},"x":"y"`,
		sent + `"go","from":null,"x":"y","docket":{}`,
		sent + `"go","from":null,"x":null`,
		sent + `"go","docket":{"from":"q"},"from":null`,
		sent + `"go","seq":3,"from":null`,
		sent + `"go","from":7`,
		sent + `"go"`,
		sent + `"go","from":null,"dispatchReceipt":{"delivery":{"text":"go"}},"docket":{}`,
		sent + `"go","from":null,"dispatchReceipt":{},"x":{}`,
		sent + `"go","from":null,"kind":"status"`,
		`{"ts":"when","kind":"status","status":"active","proposal":null,"note":null`,
		`{"ts":"2026-11-30T09:30:15.780Z","kind":"status","status":"active","proposal":null,"note":"x"`,
		`{"ts":"2026-11-30T09:30:15.780Z","kind":"status"`,
		`{"ts":"2026-11-30T09:30:15.780Z","kind":"dispatch-settled","mid":"m"`,
		`{"ts":"2026-11-30T09:30:15.780Z","kind":"mine"`,
		`{"kind":"sent","mid":"m","text":"go","from":null`,
	} {
		dir := newDir(t)
		l := buffered(t, dir, 0)
		appendAll(t, l, message(0))
		appendRaw(t, newest(t, dir), intact(stem, 1)+"\n"+stem+"}\n")
		appendAll(t, l, message(1))
		sameSteps(t, fromLines(t.Context(), l), fromAll(t.Context(), l))
	}
}

// mixedLog is the files of a log with lines of every kind, of this program and of the
// reference implementation, by their paths in the session directory.
func mixedLog(t *testing.T, seal bool) map[string][]byte {
	t.Helper()
	dir := newDir(t)
	appendRaw(t, filepath.Join(dir, "timeline.ndjson"), string(bytes.Join(fixtureLines(t), []byte("\n")))+"\n")
	l := buffered(t, dir, 40_000)
	for i := range 300 {
		m := message(i)
		m.Text = strings.Repeat([]string{"word ", "a \"quoted\" \n", "é漢🎉 "}[i%3], i%50)
		m.From, m.NoDebt = []string{"", "lead"}[i%2], i%5 == 0
		if i%7 == 0 {
			m.ReplyVia = timeline.Note
			m.Receipt = &timeline.Receipt{Operation: "send", RequestDigest: fmt.Sprint("digest ", i), Delivery: timeline.Delivery{Text: m.Text}}
		}
		if i%11 == 0 {
			m.Attributes = map[string]string{"a": m.Text}
		}
		appendAll(t, l, m, timeline.Settled{MID: m.MID}, timeline.Status{Status: "active", Note: m.Text})
	}
	if seal {
		if sealed, err := l.Seal(t.Context()); err != nil || len(sealed) == 0 {
			t.Fatalf("got %v, %v, want sealed segments", sealed, err)
		}
	}
	files := map[string][]byte{}
	for _, pattern := range []string{"*.ndjson", "timeline/*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		must(t, err)
		for _, path := range paths {
			name, err := filepath.Rel(dir, path)
			must(t, err)
			files[name], err = os.ReadFile(path)
			must(t, err)
		}
	}
	return files
}

// Whatever happened to the files of a log, its lines are those of All.
func TestLinesAreAll(t *testing.T) {
	plain, sealed := mixedLog(t, false), mixedLog(t, true)
	rapid.Check(t, func(rt *rapid.T) {
		files := rapid.SampledFrom([]map[string][]byte{plain, sealed}).Draw(rt, "log")
		dir := newDir(t)
		must(t, os.Mkdir(filepath.Join(dir, "timeline"), 0o700))
		for path, data := range files {
			must(t, os.WriteFile(filepath.Join(dir, path), data, 0o600))
		}
		paths := slices.Sorted(maps.Keys(files))
		for range rapid.IntRange(0, 4).Draw(rt, "damages") {
			path := rapid.SampledFrom(paths).Draw(rt, "path")
			data, err := os.ReadFile(filepath.Join(dir, path))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, path), harmed(rt, data), 0o600))
		}
		l, err := timeline.Open(dir, timeline.Options{})
		must(t, err)
		defer l.Close()
		sameSteps(rt, fromLines(t.Context(), l), fromAll(t.Context(), l))
	})
}

// harmed changes some bytes of a file, or cuts it.
func harmed(rt *rapid.T, data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
	lines := bytes.SplitAfter(data, []byte{'\n'})
	line, other := rapid.IntRange(0, len(lines)-1).Draw(rt, "line"), rapid.IntRange(0, len(lines)-1).Draw(rt, "other")
	switch rapid.SampledFrom([]string{"byte", "cut", "NULs", "swap", "leave out"}).Draw(rt, "how") {
	case "byte":
		data[at] = rapid.Byte().Draw(rt, "byte")
	case "cut":
		return data[:at]
	case "NULs":
		clear(data[at:min(len(data), at+rapid.IntRange(1, 5000).Draw(rt, "bytes"))])
	case "swap":
		lines[line], lines[other] = lines[other], lines[line]
		return bytes.Join(lines, nil)
	case "leave out":
		return bytes.Join(slices.Delete(lines, line, line+1), nil)
	}
	return data
}

// A line costs no memory of its own.
func TestLinesAreLent(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	read := func() float64 {
		return testing.AllocsPerRun(5, func() {
			for line, err := range l.Lines(t.Context()) {
				must(t, err)
				io.Discard.Write(append(line, '\n'))
			}
		})
	}
	appendAll(t, l, message(0))
	one := read()
	for i := range 1000 {
		appendAll(t, l, message(i), timeline.Settled{MID: message(i).MID})
	}
	if many := read(); many > one+100 { // the memory of the reader grows some times
		t.Errorf("got %v allocations for 1,000 lines, and %v for one", many, one)
	}
}

// Lines ends where its consumer does, and with the errors of All.
func TestLinesEnds(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	for range l.Lines(t.Context()) {
		t.Error("got a line of an empty log")
	}
	appendAll(t, l, message(0), message(1))
	appendRaw(t, newest(t, dir), `{"ts":"2026-11-30T09:30:15.780Z","kind":"se`) // torn
	n := 0
	for line, err := range l.Lines(t.Context()) {
		if n++; err != nil || !strings.Contains(string(line), `"mid":"m0"`) {
			t.Errorf("got %s, %v", line, err)
		}
		break
	}
	if sameSteps(t, fromLines(t.Context(), l), fromAll(t.Context(), l)); n != 1 {
		t.Errorf("got %d lines, want the one that was asked for", n)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for line, err := range l.Lines(over) {
		if line != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %s, %v, want %v", line, err, context.Canceled)
		}
	}
	must(t, os.RemoveAll(dir))
	for line, err := range l.Lines(t.Context()) {
		if line != nil || !errors.Is(err, timeline.ErrClosed) {
			t.Errorf("got %s, %v, want %v", line, err, timeline.ErrClosed)
		}
	}
}
