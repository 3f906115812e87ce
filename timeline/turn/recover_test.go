package turn_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/turn"
)

// plant appends lines to the turn log of dir as a writer without rules would.
func plant(t testing.TB, dir string, segmentBytes int64, lines ...[]byte) {
	t.Helper()
	log, err := segment.Open(dir, segment.Options{Dir: filepath.Join(dir, "turns"), SegmentBytes: segmentBytes, Schema: turn.Schema, Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	locks, err := lock.Open(dir, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer locks.Close()
	held, err := locks.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if _, err := log.Write(held, line); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
}

// line returns the line of an event.
func line(id string, p turn.Payload) []byte {
	return turn.Encode(turn.Event{Time: now, Turn: id, Payload: p})
}

func brokerLine(id string, broker uint64) []byte {
	return turn.Encode(turn.Event{Time: now, Turn: id, Native: turn.Native{Broker: broker}, Payload: turn.Text{}})
}

// changed is a text event of turn 1-a with a part of it replaced.
func changed(old, new string) []byte {
	return bytes.Replace(line("1-a", turn.Text{Text: "x"}), []byte(old), []byte(new), 1)
}

// A log that no writer can have left is refused: by Open with the place and what to do,
// without a change to it, and the lock is free again. Readers stop there too, where they
// can see it.
func TestRecoveryFailsClosed(t *testing.T) {
	begin, end := line("1-a", turn.Started{}), line("1-a", success)
	for _, tt := range []struct {
		name  string
		lines [][]byte
		seq   uint64 // of the line that is refused
		want  error
		say   string
		blind bool // readers do not keep what they would need to see it
	}{
		{"later version", [][]byte{begin, changed(`"v":1`, `"v":2`)}, 1, turn.ErrVersion, "use the version of docket", false},
		{"later version of another shape", [][]byte{begin, changed(`"v":1`, `"v":2,"text":{}`)}, 1, turn.ErrVersion, "version 2", false},
		{"version zero", [][]byte{begin, changed(`"v":1`, `"v":0`)}, 1, turn.ErrVersion, "version 0", false},
		{"unknown kind", [][]byte{begin, changed(`"text"`, `"telepathy"`)}, 1, turn.ErrKind, "telepathy", false},
		{"raw frame", [][]byte{begin, changed(`"text":"x"`, `"text":"x","raw":{"a":1}`)}, 1, turn.ErrInvalid, "form", false},
		{"field of another kind", [][]byte{begin, changed(`"text":"x"`, `"text":"x","outcome":"success"`)}, 1, turn.ErrInvalid, "form", false},
		{"field twice", [][]byte{begin, changed(`"text":"x"`, `"text":"y","text":"x"`)}, 1, turn.ErrInvalid, "form", false},
		{"other order", [][]byte{begin, changed(`"v":1,"turn":"1-a"`, `"turn":"1-a","v":1`)}, 1, turn.ErrInvalid, "form", false},
		{"other type", [][]byte{begin, changed(`"text":"x"`, `"text":7`)}, 1, turn.ErrInvalid, "text", false},
		{"no such time", [][]byte{begin, changed(`2026-11-30`, `2026-11-31`)}, 1, turn.ErrInvalid, "2026-11-31", false},
		{"unknown outcome", [][]byte{begin, line("1-a", turn.Finished{Outcome: "odd"})}, 1, turn.ErrInvalid, "odd", false},
		{"emission before a turn", [][]byte{line("1-a", turn.Text{})}, 0, nil, "not open", true},
		{"finish before a turn", [][]byte{end}, 0, nil, "not open", true},
		{"emission without a turn", [][]byte{begin, line("", turn.Text{})}, 1, nil, "not open", true},
		{"emission on another turn", [][]byte{begin, line("1-b", turn.Text{})}, 1, nil, "not open", true},
		{"emission on a finished turn", [][]byte{begin, end, line("1-a", turn.Text{})}, 2, nil, "not open", true},
		{"emission on an old turn", [][]byte{begin, end, line("2-a", turn.Started{}), line("1-a", turn.Text{})}, 3, nil, "not open", true},
		{"two finishes", [][]byte{begin, end, end}, 2, nil, "not open", true},
		{"turn inside a turn", [][]byte{begin, line("2-a", turn.Started{})}, 1, nil, "another is open", true},
		{"turn that comes again", [][]byte{begin, end, begin}, 2, nil, "number 2 is due", true},
		{"turn left out", [][]byte{begin, end, line("3-a", turn.Started{})}, 2, nil, "number 2 is due", true},
		{"turn id that is none", [][]byte{line("a", turn.Started{})}, 0, nil, "number 1 is due", true},
		{"fact with a turn", [][]byte{begin, line("1-a", turn.State{Name: "n"})}, 1, nil, "no turn", true},
		{"broker goes back", [][]byte{begin, brokerLine("1-a", 2), brokerLine("1-a", 1)}, 2, nil, "1 after 2", true},
		{"broker repeats", [][]byte{begin, brokerLine("1-a", 2), brokerLine("1-a", 2)}, 2, nil, "2 after 2", true},
		{"broker without a turn", [][]byte{turn.Encode(turn.Event{Time: now, Native: turn.Native{Broker: 1}, Payload: turn.State{Name: "n"}})}, 0, nil, "no turn is open", true},
		{"too many facts", tooManyFacts(), turn.MaxStates, nil, "names", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newDir(t)
			plant(t, dir, 0, tt.lines...)
			wantRefused(t, dir, tt.seq, tt.want, tt.say, tt.blind)
		})
	}
}

func tooManyFacts() (lines [][]byte) {
	for i := range turn.MaxStates + 1 {
		lines = append(lines, line("", turn.State{Name: fmt.Sprint(i)}))
	}
	return lines
}

// wantRefused opens and reads a log that is invalid at a place.
func wantRefused(t *testing.T, dir string, seq uint64, want error, say string, blind bool) {
	t.Helper()
	before := fileBytes(t, dir)
	for range 2 { // the second time shows that the first gave its locks back
		_, err := turn.Open(t.Context(), dir, turn.Options{})
		wantInvalid(t, "Open", err, seq, want, say)
	}
	if after := fileBytes(t, dir); after != before {
		t.Error("Open changed the log")
	}
	l := read(t, dir)
	n, last := uint64(0), error(nil)
	for _, err := range l.History(t.Context(), cursor(t, l.Start)) {
		if last = err; err == nil {
			n++
		}
	}
	if blind {
		return
	}
	wantInvalid(t, "History", last, seq, want, say)
	if n != seq {
		t.Errorf("History gave %d events before it stopped, want %d", n, seq)
	}
}

func wantInvalid(t *testing.T, who string, err error, seq uint64, want error, say string) {
	t.Helper()
	var invalid *turn.InvalidError
	if !errors.As(err, &invalid) || !errors.Is(err, turn.ErrInvalid) || want != nil && !errors.Is(err, want) {
		t.Fatalf("%s: got %v, want %v", who, err, turn.ErrInvalid)
	}
	if invalid.Seq != seq || invalid.Session != "s1" || !strings.Contains(invalid.Path, "turns") || !strings.Contains(err.Error(), say) {
		t.Errorf("%s: got %v, want event %d and %q", who, err, seq, say)
	}
	raw, readErr := os.ReadFile(invalid.Path)
	if readErr != nil || invalid.Offset > int64(len(raw)) || invalid.Offset > 0 && raw[invalid.Offset-1] != '\n' {
		t.Errorf("%s: got %s at %d, which is no line's place: %v", who, invalid.Path, invalid.Offset, readErr)
	}
}

// fileBytes returns all bytes of the segments.
func fileBytes(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	for _, path := range segmentsOf(t, dir) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
	}
	return all.String()
}

func segmentsOf(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "turns", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// Damage in the files is refused as well: at every line a changed byte, a line that is
// taken out, a segment that is missing. A torn last line is none.
func TestRecoveryOfDamagedFiles(t *testing.T) {
	make := func(t *testing.T) (dir string) {
		dir = newDir(t)
		w := open(t, dir, func(o *turn.Options) { o.SegmentBytes = 700 })
		for range 3 {
			tn := start(t, w, turn.Started{MID: "m"})
			emit(t, tn, turn.Text{Text: "hello"})
			finish(t, tn, success)
		}
		closeWriter(t, w)
		return dir
	}
	paths := segmentsOf(t, make(t))
	if len(paths) < 3 {
		t.Fatalf("got %d segments, want some", len(paths))
	}
	ruins := ruinsOfALine()
	for n := range paths {
		for name, ruin := range ruins {
			if n == len(paths)-1 && !strings.HasSuffix(name, "changed") {
				continue // a log that ends earlier is one
			}
			dir := make(t)
			path := segmentsOf(t, dir)[n]
			raw, err := os.ReadFile(path)
			if err == nil {
				err = ruin(path, raw)
			}
			if errors.Is(err, errSkip) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := turn.Open(t.Context(), dir, turn.Options{}); !errors.Is(err, turn.ErrInvalid) {
				t.Errorf("segment %d, %s: got %v, want %v", n+1, name, err, turn.ErrInvalid)
			}
			last := endOfHistory(t, dir)
			if !errors.Is(last, turn.ErrInvalid) {
				t.Errorf("segment %d, %s: History ended with %v, want %v", n+1, name, last, turn.ErrInvalid)
			}
		}
	}
}

// endOfHistory returns the error that a reader of the whole log ends with.
func endOfHistory(t *testing.T, dir string) (last error) {
	t.Helper()
	l := read(t, dir)
	for _, err := range l.History(t.Context(), timeline.NewCursor("s1", segment.Epoch{}, 0)) {
		last = err
	}
	return last
}

var errSkip = errors.New("not in this segment")

// ruinsOfALine are ways to damage a segment, by what they do.
func ruinsOfALine() map[string]func(path string, raw []byte) error {
	ruins := map[string]func(path string, raw []byte) error{
		"taken away": func(path string, _ []byte) error { return os.Remove(path) },
	}
	for i := range 3 {
		ruins[fmt.Sprintf("line %d changed", i+1)] = func(path string, raw []byte) error {
			lines := bytes.SplitAfter(raw, []byte("\n"))
			if i+1 >= len(lines)-1 {
				return errSkip
			}
			lines[i+1][len(lines[i+1])/2] ^= 1
			return os.WriteFile(path, bytes.Join(lines, nil), 0o600)
		}
		ruins[fmt.Sprintf("line %d taken out", i+1)] = func(path string, raw []byte) error {
			lines := bytes.SplitAfter(raw, []byte("\n"))
			if i+1 >= len(lines)-2 {
				return errSkip // the last line of a log may be missing, and nobody can know
			}
			return os.WriteFile(path, bytes.Join(slices.Delete(lines, i+1, i+2), nil), 0o600)
		}
	}
	return ruins
}

// A line that a dead writer left torn, cut at any byte, is not there: the next writer
// goes on where the last whole line ended.
func TestRecoveryDropsATornTail(t *testing.T) {
	torn := line("1-a", turn.Text{Text: "torn é"})
	for cut := range len(torn) {
		dir := newDir(t)
		plant(t, dir, 0, line("1-a", turn.Started{Token: "tok"}))
		path := segmentsOf(t, dir)[0]
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(torn[:cut]); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		w := open(t, dir)
		tn, ok := w.Active()
		if !ok || tn.Token() != "tok" {
			t.Fatalf("cut at %d: got %+v, want the turn to be open", cut, tn)
		}
		if e := finish(t, tn, gone); e.Seq != 1 {
			t.Fatalf("cut at %d: got sequence %d, want 1", cut, e.Seq)
		}
		closeWriter(t, w)
		wantLog(t, dir, "1:turn-started", "1:turn-finished interrupted/runtime_restart")
	}
}

// Recovery restores what the last writer knew, and does nothing by itself: an
// unfinished turn is not dispatched, finished or changed.
func TestRecoveryRestoresTheWriter(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir, func(o *turn.Options) { o.SegmentBytes = 400 })
	for name, value := range map[string]string{"model": "small", "mode": "ask"} {
		if _, err := w.Publish(t.Context(), none, turn.State{Name: name, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, start(t, w, turn.Started{}), success)
	tn := start(t, w, turn.Started{MID: "m2", Token: "tok", Attributes: map[string]string{"a": "b"}})
	if _, err := tn.Emit(t.Context(), turn.Native{Broker: 41}, turn.Text{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Publish(t.Context(), none, turn.State{Name: "model", Value: "large"}); err != nil {
		t.Fatal(err)
	}
	closeWriter(t, w)
	before := fileBytes(t, dir)

	w = open(t, dir)
	got, ok := w.Active()
	if !ok || got.ID() != tn.ID() || got.MID() != "m2" || got.Token() != "tok" || got.Broker() != 41 || got.Number() != 2 {
		t.Fatalf("got %+v, want turn 2 as it was", got)
	}
	if s := got.Started().Payload.(turn.Started); s.Attributes["a"] != "b" || got.Started().Next != tn.Started().Next {
		t.Errorf("got %+v, want what it started with", got.Started())
	}
	if s := w.State(); len(s) != 2 || s["model"] != "large" || s["mode"] != "ask" {
		t.Errorf("got the facts %v, want the latest of each name", s)
	}
	if fileBytes(t, dir) != before {
		t.Error("recovery wrote something")
	}
	if e := finish(t, got, gone); e.Seq != 7 {
		t.Errorf("got sequence %d, want 7", e.Seq)
	}
}

// A segment that a later version of the engine made is refused by Open, not only by the
// first append.
func TestRecoveryOfALaterSegment(t *testing.T) {
	dir := newDir(t)
	plant(t, dir, 0, line("1-a", turn.Started{}))
	path := segmentsOf(t, dir)[0]
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := bytes.Cut(raw, []byte("\n"))
	body, _, _ := bytes.Cut(bytes.Replace(head, []byte(`"version":1`), []byte(`"version":2`), 1), []byte(`,"check"`))
	later := fmt.Appendf(nil, "%s,\"check\":\"%08x\",\"seq\":0}\n%s", body, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)), rest)
	if err := os.WriteFile(path, later, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := turn.Open(t.Context(), dir, turn.Options{}); !errors.Is(err, turn.ErrVersion) {
			t.Errorf("got %v, want %v", err, turn.ErrVersion)
		}
	}
	if got := fileBytes(t, dir); got != string(later) {
		t.Error("Open changed the log")
	}
}

// What a dead writer wrote and did not sync is durable before anybody relies on it.
func TestRecoverySyncsWhatItFinds(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	start(t, w, turn.Started{})
	bad := errors.New("bad disk")
	w.Trouble(turn.Trouble{SyncAll: func() error { return bad }})
	if err := w.Recover(t.Context()); !errors.Is(err, bad) {
		t.Errorf("got %v, want %v", err, bad)
	}
}
