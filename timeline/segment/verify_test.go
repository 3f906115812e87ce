package segment_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

func verify(t tb, log *segment.Log) (notes, damage []string) {
	t.Helper()
	for f, err := range log.Verify(context.Background()) {
		must(t, err)
		text := fmt.Sprintf("%s@%d: %v", filepath.Base(f.Path), f.Offset, f.Err)
		if f.Severity == segment.Damage {
			damage = append(damage, text)
		} else {
			notes = append(notes, text)
		}
	}
	return notes, damage
}

// TestVerify is long because it is one table: a kind of damage a row.
func TestVerify(t *testing.T) {
	ctx := context.Background()
	edit := func(t tb, path string, change func([]byte) []byte) {
		must(t, os.WriteFile(path, change(fileBytes(t, path)), 0o600))
	}
	for _, tt := range []struct {
		name   string
		break_ func(t *testing.T, f *fixture)
		notes  string // text that some note must hold
		damage string
	}{
		{"whole", func(t *testing.T, f *fixture) {}, "", ""},
		{"sealed", func(t *testing.T, f *fixture) { _, err := f.log.Seal(ctx, f.locks); must(t, err) }, "", ""},
		{"torn tail", func(t *testing.T, f *fixture) {
			edit(t, newestPath(f), func(b []byte) []byte { return append(b, `{"kind":"p`...) })
		}, "never committed", ""},
		{"changed text", func(t *testing.T, f *fixture) {
			edit(t, segmentPath(f, 2), func(b []byte) []byte { return bytes.Replace(b, []byte(`"id":"m`), []byte(`"id":"M`), 1) })
		}, "", "was changed"},
		{"unreadable line", func(t *testing.T, f *fixture) {
			edit(t, segmentPath(f, 2), func(b []byte) []byte { b[len(b)-20] = 0; return b })
		}, "", "NUL"},
		{"line removed", func(t *testing.T, f *fixture) {
			edit(t, newestPath(f), func(b []byte) []byte {
				lines := bytes.SplitAfter(b, []byte("\n"))
				return bytes.Join(append(lines[:1:1], lines[2:]...), nil)
			})
		}, "", "is expected"},
		{"segment removed", func(t *testing.T, f *fixture) { must(t, os.Remove(segmentPath(f, 2))) }, "", "2 to 2 are not there"},
		{"first segment removed", func(t *testing.T, f *fixture) { must(t, os.Remove(segmentPath(f, 1))) }, "", "1 to 1 are not there"},
		{"two swapped", func(t *testing.T, f *fixture) {
			a, b := fileBytes(t, segmentPath(f, 2)), fileBytes(t, segmentPath(f, 3))
			must(t, os.WriteFile(segmentPath(f, 2), b, 0o600))
			must(t, os.WriteFile(segmentPath(f, 3), a, 0o600))
		}, "", "was changed"},
		{"newest segment emptied", func(t *testing.T, f *fixture) {
			edit(t, newestPath(f), func(b []byte) []byte { return nil })
		}, "", "what was in it is gone"},
		{"newest segment cut in its header", func(t *testing.T, f *fixture) {
			edit(t, newestPath(f), func(b []byte) []byte { return b[:50] })
		}, "never committed", "what was in it is gone"},
		{"header removed", func(t *testing.T, f *fixture) {
			edit(t, newestPath(f), func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] })
		}, "", "its header is gone"},
		{"symlink", func(t *testing.T, f *fixture) { must(t, os.Symlink("/etc/passwd", segmentPath(f, 99))) }, "", "not a plain file"},
		{"both forms", func(t *testing.T, f *fixture) {
			data := fileBytes(t, segmentPath(f, 2))
			_, err := f.log.Seal(ctx, f.locks)
			must(t, err)
			must(t, os.WriteFile(segmentPath(f, 2), data, 0o600))
		}, "the next Seal removes one", ""},
		{"two different forms", func(t *testing.T, f *fixture) {
			_, err := f.log.Seal(ctx, f.locks)
			must(t, err)
			must(t, os.WriteFile(segmentPath(f, 2), []byte(public("x")+"\n"), 0o600))
		}, "has no header", "is another"},
		{"draft", func(t *testing.T, f *fixture) {
			must(t, os.WriteFile(segmentPath(f, 2)+".zst.1.tmp", nil, 0o600))
		}, "did not end", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 900})
			defer f.close()
			f.speedUp(t)
			filled(t, f, 40)
			tt.break_(t, f)
			notes, damage := verify(t, f.handle(t))
			for _, c := range []struct {
				name string
				got  []string
				want string
			}{{"notes", notes, tt.notes}, {"damage", damage, tt.damage}} {
				if text := strings.Join(c.got, "\n"); (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
					t.Errorf("%s: got %q, want %q", c.name, text, c.want)
				}
			}
		})
	}
}

// newestPath returns the plain segment with the highest number.
func newestPath(f *fixture) string {
	paths, _ := filepath.Glob(filepath.Join(f.dir, "timeline", "*.ndjson"))
	if len(paths) == 0 {
		return segmentPath(f, 1)
	}
	return paths[len(paths)-1]
}

// Each flipped byte of a sealed file is found.
func TestVerifyFindsEveryFlippedByteOfASealedFile(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 900})
	defer f.close()
	filled(t, f, 20)
	sealed, err := f.log.Seal(context.Background(), f.locks)
	must(t, err)
	data := fileBytes(t, sealed[0].Path)
	for at := range data {
		bad := bytes.Clone(data)
		bad[at] ^= 1
		must(t, os.WriteFile(sealed[0].Path, bad, 0o600))
		if _, damage := verify(t, f.handle(t)); len(damage) == 0 {
			t.Errorf("byte %d of %d: nothing found", at, len(data))
		}
	}
}
