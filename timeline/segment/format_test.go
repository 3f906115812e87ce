package segment_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// The bytes on disk are a promise: a log in testdata, sealed and plain, is read,
// verified and appended to.
func TestStoredLog(t *testing.T) {
	files := map[string][]byte{}
	for _, name := range []string{"000000000001.ndjson.zst", "000000000002.ndjson.zst", "000000000003.ndjson"} {
		files["timeline/"+name] = fileBytes(t, filepath.Join("testdata", "log", name))
	}
	f := copyOf(t, files, segment.Options{SegmentBytes: 900})
	defer f.close()
	if notes, damage := verify(t, f.log); len(notes) > 0 || len(damage) > 0 {
		t.Errorf("got %v %v", notes, damage)
	}
	items, bad := readFrom(t, f.log, 0)
	want := []item{}
	for i, id := range []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11"} {
		want = append(want, item{id, i%5 != 4, uint64(i - (i+1)/5)})
	}
	for i := range want {
		if !want[i].public {
			want[i].seq = want[i-1].seq + 1
		}
	}
	if len(bad) > 0 {
		t.Errorf("got damage %v", bad)
	}
	sameItems(t, "stored log", items, want)
	if v, err := f.log.View(context.Background()); err != nil || v.Epoch().String() != "00cdc5fa441078490ced8442aa326657" {
		t.Errorf("got epoch %v, %v", v.Epoch(), err)
	}
	if w := f.write(t, public("next")); w.First != 10 {
		t.Errorf("got sequence %d, want 10", w.First)
	}
}

// A fresh log has exactly the documented bytes, but for its random epoch.
func TestFormat(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{})
	defer f.close()
	f.write(t, public("a"), private("b"), `{"kind":"p"  }`)
	want := regexp.MustCompile(`^\{"ts":"2023-11-14T22:13:20.123Z","kind":"segment","version":1,"epoch":"[0-9a-f]{32}","first":0,"prev":null,` +
		`"facts":\{"lines":0,"last":""\},"check":"[0-9a-f]{8}","seq":0\}
\{"kind":"p","id":"a","crc":"1031fdd7","seq":0\}
\{"kind":"x","id":"b","crc":"001ec00b","seq":1\}
\{"kind":"p","crc":"221778cb","seq":1\}
$`)
	if got := fileBytes(t, segmentPath(f, 1)); !want.Match(got) {
		t.Errorf("got\n%s", got)
	}
	for path, mode := range map[string]os.FileMode{segmentPath(f, 1): 0o600, filepath.Dir(segmentPath(f, 1)): 0o700} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != mode {
			t.Errorf("%s: got mode %o, want %o", path, info.Mode().Perm(), mode)
		}
	}
}
