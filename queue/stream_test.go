package queue_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// pieces are what files are damaged with.
var pieces = []string{
	"", "[", "]", "{", "}", ",", "\n", " ", "     ", "\n]\n", "[\n", ",\n", ",]", "],[", "\n  {", "\x00", "\x00\x00\x00\x00\n", `"`, `\`, "\xff", "1", lineA, lineB[:20],
}

// drawFile draws a file of this package or of another writer, and may damage it.
func drawFile(rt *rapid.T) string {
	var lines []string
	for i := range rapid.IntRange(0, 4).Draw(rt, "entries") {
		e := entry(string(rune('a' + i)))
		e.Text += rapid.SampledFrom([]string{"", "é \"{}[],\n", "rm }", strings.Repeat("x", 90)}).Draw(rt, "text")
		line, err := queue.Encode(e)
		if err != nil {
			rt.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	file := "[" + strings.Join(lines, ",") + "]"
	switch rapid.SampledFrom([]string{"own", "own", "own, with a blank head", "pretty-printed", "flat"}).Draw(rt, "layout") {
	case "own":
		file = "[\n" + strings.Join(lines, ",\n") + "\n]\n"
	case "own, with a blank head":
		file = "[\n" + strings.Repeat(" ", 70) + "\n   \n" + strings.Join(lines, ",\n") + "\n]\n"
	case "pretty-printed":
		file = indented(rt, generic(rt, file))
	}
	for range rapid.IntRange(0, 3).Draw(rt, "faults") {
		from := rapid.IntRange(0, len(file)).Draw(rt, "from")
		to := rapid.IntRange(from, min(from+80, len(file))).Draw(rt, "to")
		file = file[:from] + rapid.SampledFrom(pieces).Draw(rt, "piece") + file[to:]
	}
	return file
}

// In whatever parts a file is read, and whatever is in it, the stream says what the
// slice says, and what any reader of JSON says of a file that is a list.
func TestStreamAgainstSlice(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		d := openDesk(rt, dir, queue.Options{})
		defer d.Close()
		d.SetPatience(0)
		content := drawFile(rt)
		d.put(content)
		want, err := d.Inspect()
		if err != nil {
			rt.Fatal(err)
		}
		d.SetReadBytes(rapid.IntRange(1, 100).Draw(rt, "part"))
		var scanned []queue.Entry
		places := d.Reading()
		defer places.Close()
		in, err := d.Scan(func(at queue.Place, e queue.Entry) error {
			again, err := places.Read(at)
			if err == nil && !reflect.DeepEqual(again, e) {
				err = errors.New("another entry stands at its place")
			}
			scanned = append(scanned, e)
			return err
		})
		if err != nil || in.Count != len(scanned) || in.Entries != nil {
			rt.Fatalf("scan: got %v, %d of %d entries in %q", err, len(scanned), in.Count, content)
		}
		if in.Entries = scanned; !reflect.DeepEqual(in, want) {
			rt.Fatalf("in parts: got %+v, want %+v in %q", in, want, content)
		}
		listed, err := d.List()
		if !reflect.DeepEqual(listed, want.Entries) || (err == nil) != (want.Err() == nil) {
			rt.Fatalf("all: got %+v, %v, want %+v, %v in %q", listed, err, want.Entries, want.Err(), content)
		}
		var list []struct{ MID, Text *string }
		if json.Unmarshal([]byte(content), &list) == nil && want.Err() == nil && len(list) != in.Count {
			rt.Fatalf("got %d entries, want %d in %q", in.Count, len(list), content)
		}
	})
}

// Who has seen enough stops the stream, and an error of who looks at an entry ends a scan.
func TestStreamIsStopped(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b", "c")
	d.must(func(held *lock.Record) error { return d.Claim(held, "a") })
	for e, err := range d.All() {
		if e.MID != "a" || !e.Unconfirmed() || err != nil {
			t.Fatalf("got %+v, %v, want the oldest, claimed", e, err)
		}
		break
	}
	seen := 0
	_, err := d.Scan(func(_ queue.Place, e queue.Entry) error {
		if seen++; e.MID == "b" {
			return errBusy
		}
		return nil
	})
	if !errors.Is(err, errBusy) || seen != 2 {
		t.Errorf("got %v after %d entries, want the error at the second", err, seen)
	}
}

// An entry that is not there any more is not read from its place.
func TestReadOfAPlaceThatIsGone(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	var places []queue.Place
	if _, err := d.Scan(func(at queue.Place, _ queue.Entry) error {
		places = append(places, at)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	d.remove("a")
	r := d.Reading()
	defer r.Close()
	if _, err := r.Read(places[0]); !errors.Is(err, queue.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
	if e, err := r.Read(places[1]); e.MID != "b" || err != nil {
		t.Errorf("got %+v, %v, want b", e, err)
	}
}

// An error of the stream from which a list is rebuilt leaves the list as it was.
func TestRebuildFromAnInterruptedStream(t *testing.T) {
	for name, bad := range map[string]struct {
		entry queue.Entry
		err   error
		want  error
	}{
		"error":   {err: errBusy, want: errBusy},
		"invalid": {entry: queue.Entry{Text: "no id"}, want: queue.ErrInvalid},
	} {
		for _, before := range []int{0, 1} {
			d := newDesk(t, queue.Options{})
			d.enqueue("a", "b")
			content := d.content()
			err := d.hold(func(held *lock.Record) error {
				_, err := d.RebuildFrom(held, func(yield func(queue.Entry, error) bool) {
					for range before {
						yield(entry("c"), nil)
					}
					yield(bad.entry, bad.err)
				})
				return err
			})
			if !errors.Is(err, bad.want) || d.content() != content {
				t.Errorf("%s behind %d: got %v, %q, want %v and nothing changed", name, before, err, d.content(), bad.want)
			}
			noLeftovers(t, d.dir)
			d.enqueue("d")
			d.atRest([]string{"a", "b", "d"})
		}
	}
}
