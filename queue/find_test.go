package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// drawLine draws an entry as some program may write it in one line. What it says may
// look like an entry, or like the id of another one.
func drawLine(rt *rapid.T, mid string) string {
	e := entry(mid)
	e.Text = rapid.SampledFrom([]string{
		"", "plain", `{"mid":"b","text":"x"}`, `"mid":"c"`, "a\nb\x1b[0m", "é", `\u0062`, strings.Repeat("long ", 60),
	}).Draw(rt, "text")
	e.Attributes = rapid.SampledFrom([]map[string]string{nil, {"mid": "b"}}).Draw(rt, "attributes")
	own, err := queue.Encode(e)
	if err != nil {
		rt.Fatal(err)
	}
	name, err := json.Marshal(mid)
	if err != nil {
		rt.Fatal(err)
	}
	switch rapid.SampledFrom([]string{"own", "own", "own", "indented", "spaced", "escaped", "the id last", "two ids", "two ids, escaped"}).Draw(rt, "style") {
	case "indented":
		return "  " + string(own)
	case "spaced":
		return fmt.Sprintf(`{ "mid" : %s , "text":"x"}`, name)
	case "escaped":
		if mid[0] < 0x80 && mid[0] != '"' && mid[0] != '\\' {
			return fmt.Sprintf(`{"mid":"\u%04x%s,"text":"x"}`, mid[0], name[2:])
		}
	case "the id last":
		return fmt.Sprintf(`{"text":"{\"mid\":\"b\"","mid":%s}`, name)
	case "two ids":
		return fmt.Sprintf(`{"mid":"b","text":"x","mid":%s}`, name)
	case "two ids, escaped":
		return fmt.Sprintf(`{"mid":"b","text":"x","\u006did":%s}`, name)
	}
	return string(own)
}

// drawList draws a list of one entry a line, with a blank head or not, and may damage it.
func drawList(rt *rapid.T, ids []string) string {
	var lines []string
	for _, mid := range rapid.Permutation(ids).Draw(rt, "order")[:rapid.IntRange(1, len(ids)).Draw(rt, "entries")] {
		lines = append(lines, drawLine(rt, mid))
	}
	blank := rapid.SampledFrom([]string{"", strings.Repeat(" ", 70) + "\n   \n"}).Draw(rt, "blank")
	file := "[\n" + blank + strings.Join(lines, ",\n") + "\n]\n"
	if rapid.Bool().Draw(rt, "damaged") {
		from := rapid.IntRange(0, len(file)).Draw(rt, "from")
		to := rapid.IntRange(from, min(from+80, len(file))).Draw(rt, "to")
		file = file[:from] + rapid.SampledFrom(pieces).Draw(rt, "piece") + file[to:]
	}
	return file
}

// What Find finds is what List lists, whoever wrote the lines and in whatever parts they
// are read. Of a damaged list it says so, unless it came to all that was asked for before.
func TestFindAgainstList(t *testing.T) {
	ids := []string{"a", "b", "c", `d"e`, "f\\", "é", "a/b", "01934a5b-7e1c-7000-8000-000000000001"}
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		d := openDesk(rt, dir, queue.Options{})
		defer d.Close()
		d.SetPatience(0)
		content := drawList(rt, ids)
		d.put(content)
		in, err := d.Inspect()
		if err != nil {
			rt.Fatal(err)
		}
		d.SetReadBytes(rapid.IntRange(1, 400).Draw(rt, "part"))
		asked := rapid.SliceOfNDistinct(rapid.SampledFrom(append(ids, "", "unknown")), 0, 4, rapid.ID).Draw(rt, "asked")
		want := map[string]queue.Entry{}
		for _, e := range in.Entries {
			if slices.Contains(asked, e.MID) {
				want[e.MID] = e
			}
		}
		got, err := d.Find(asked...)
		switch {
		case errors.Is(err, queue.ErrCorrupt) && in.Err() != nil && len(got) == 0:
		case err != nil:
			rt.Fatalf("got %v, want that of List: %v in %q", err, in.Err(), content)
		case !reflect.DeepEqual(got, want):
			rt.Fatalf("got %+v, want %+v in %q", got, want, content)
		case in.Err() != nil && len(got) < len(asked):
			rt.Fatalf("got %+v, want %v in %q", got, in.Err(), content)
		}
	})
}

// deepDesk returns a queue of some hundred entries and more than 64 KiB.
func deepDesk(t *testing.T) *desk {
	d := newDesk(t, queue.Options{})
	writeList(t, d.path(), 300)
	d.must((*lock.Record).Recovered)
	return d
}

// spoil changes a letter of an entry's text.
func (d *desk) spoil(mid string) {
	d.t.Helper()
	content := d.content()
	was := "text of " + mid
	if !strings.Contains(content, was) {
		d.t.Fatalf("%s is not in the list", mid)
	}
	d.put(strings.Replace(content, was, "test of "+mid, 1))
}

// In a deep list what is asked for is found whatever else is there; that something is not
// there is said only of a list that makes sense.
func TestFindInADeepList(t *testing.T) {
	mid := func(i int) string { return benchEntry(i).MID }
	d := deepDesk(t)
	d.must(func(held *lock.Record) error { return d.Claim(held, mid(0)) })
	if found, err := d.Find("unknown"); len(found) > 0 || err != nil {
		t.Errorf("got %+v, %v, want nothing", found, err)
	}
	d.spoil(mid(10))
	for _, i := range []int{0, 11, 150, 299} {
		found, err := d.Find(mid(i))
		e, ok := found[mid(i)]
		if err != nil || !ok || len(found) != 1 || e.Text != benchEntry(i).Text {
			t.Errorf("number %d: got %+v, %v, want it alone", i, found, err)
		}
		if e.Unconfirmed() != (i == 0) {
			t.Errorf("number %d: got claimed at %v", i, e.Claimed)
		}
	}
	for _, mid := range []string{mid(10), mid(9), "unknown"} {
		if found, err := d.Find(mid); len(found) > 0 || !errors.Is(err, queue.ErrCorrupt) {
			t.Errorf("%s: got %+v, %v, want ErrCorrupt", mid, found, err)
		}
	}
}

// What is no list of entries, one a line, is not read as one.
func TestFindInALongListWithFaults(t *testing.T) {
	a, b, c := `{"mid":"a","text":"x"}`, `{"mid":"b","text":"x"}`, `{"mid":"c","text":"x"}`
	for _, tt := range []struct{ name, asked, content string }{
		{"no comma", "unknown", "[\n" + a + ",\n" + b + "\n" + c + "\n]\n"},
		{"a comma alone", "unknown", "[\n" + a + ",\n" + b + ",\n,\n" + c + "\n]\n"},
		{"half of one", "unknown", "[\n" + a + ",\n" + b[:9] + ",\n" + c + "\n]\n"},
		{"indented, behind a bracket", "b", "[\n" + a + ",\n[" + a + ",\n  " + b + ",\n" + c + "\n]\n"},
	} {
		d := newDesk(t, queue.Options{})
		d.SetReadBytes(1)
		d.put(tt.content)
		if found, err := d.Find(tt.asked); len(found) > 0 || !errors.Is(err, queue.ErrCorrupt) {
			t.Errorf("%s: got %+v, %v, want ErrCorrupt", tt.name, found, err)
		}
	}
}

// A short list, and one in the layout of another writer, is read as a whole.
func TestFindReadsAShortListWhole(t *testing.T) {
	d := newDesk(t, queue.Options{})
	if found, err := d.Find("a"); len(found) > 0 || err != nil {
		t.Errorf("nothing is owed: got %+v, %v", found, err)
	}
	d.enqueue("a", "b", "c")
	if found, err := d.Find("b", "x"); len(found) != 1 || found["b"].Text != "text of b" || err != nil {
		t.Errorf("got %+v, %v, want b", found, err)
	}
	d.spoil("b")
	if found, err := d.Find("c"); len(found) > 0 || !errors.Is(err, queue.ErrCorrupt) {
		t.Errorf("got %+v, %v, want ErrCorrupt", found, err)
	}
	d.put("[ " + strings.Repeat(`{"mid":"a","text":"x"}, `, 5_000) + `{"mid":"b","text":"y"} ]`)
	if found, err := d.Find("b"); len(found) != 1 || err != nil {
		t.Errorf("of another writer: got %+v, %v, want b", found, err)
	}
}

// A removal from a deep list takes nothing else along, and leaves a damaged one alone.
func TestRemoveFromADeepList(t *testing.T) {
	mid := func(i int) string { return benchEntry(i).MID }
	d := deepDesk(t)
	before := d.content()
	d.remove(mid(150), mid(299))
	line := func(i int) string {
		text, err := queue.Encode(benchEntry(i))
		if err != nil {
			t.Fatal(err)
		}
		return ",\n" + string(text)
	}
	want := strings.Replace(strings.Replace(before, line(150), "", 1), line(299), "", 1)
	if d.content() != want {
		t.Error("got another list than the one before without the two")
	}
	refused := func(reason error, mids ...string) {
		t.Helper()
		before := d.content()
		err := d.hold(func(held *lock.Record) error { return d.Remove(held, mids...) })
		if !errors.Is(err, reason) || d.content() != before {
			t.Errorf("got %v, want %v and the list as it was", err, reason)
		}
	}
	refused(queue.ErrNotPending, mid(151), mid(150))
	d.spoil(mid(200))
	refused(queue.ErrCorrupt, mid(151))
}

// BenchmarkFind looks for the newest entry, for one in the middle and for one that is not
// there.
func BenchmarkFind(b *testing.B) {
	for _, n := range append(depths, 100_000) {
		d, _ := deep(b, n)
		for name, mid := range map[string]string{"newest": benchEntry(n - 1).MID, "middle": benchEntry(n / 2).MID, "none": "none"} {
			b.Run(fmt.Sprint("depth=", n, "/", name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if found, err := d.Find(mid); err != nil || (len(found) == 0) != (name == "none") {
						b.Fatal(found, err)
					}
				}
			})
		}
	}
}
