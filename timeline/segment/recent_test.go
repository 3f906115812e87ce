package segment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

func keyed(id, key string) string { return fmt.Sprintf(`{"kind":"p","id":%q,"key":%q}`, id, key) }

func digestOf(key string) []byte {
	digest, _ := testSchema{}.Key([]byte(keyed("", key)))
	return digest
}

// writeBy is write through another handle.
func (f *fixture) writeBy(t tb, log *segment.Log, line string) {
	t.Helper()
	held, err := f.locks.Record(context.Background())
	must(t, err)
	defer held.Release()
	_, err = log.Write(held, []byte(line))
	must(t, err)
}

// lacks asks with the record lock or without it.
func (f *fixture) lacks(t tb, under bool, key string) bool {
	t.Helper()
	if !under {
		return f.log.Lacks(nil, digestOf(key))
	}
	held, err := f.locks.Record(context.Background())
	must(t, err)
	defer held.Release()
	return f.log.Lacks(held, digestOf(key))
}

// What a handle that writes says to be lacking, a fresh handle does not find, whoever
// appended what in between.
func TestLacks(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 2500, Buffered: true})
	defer f.close()
	other := f.handle(t)
	defer other.Close()
	told := 0
	for i := range 120 {
		if i%20 == 13 {
			must(t, appendBytes(segmentPath(f, newestNumber(t, f)), keyed("foreign", fmt.Sprint("f", i))+"\n"))
		}
		if i%5 == 3 {
			f.writeBy(t, other, keyed(fmt.Sprint("m", i), fmt.Sprint("o", i)))
		}
		if i%5 != 4 {
			f.write(t, keyed(fmt.Sprint("m", i), fmt.Sprint("k", i%50)))
		}
		for _, key := range []string{fmt.Sprint("k", i%50), fmt.Sprint("k", (i+1)%50), fmt.Sprint("f", i), fmt.Sprint("o", i), "never"} {
			lacks := f.lacks(t, i%2 == 0, key)
			if there := found(t, f.handle(t), digestOf(key), nil); lacks && len(there) > 0 {
				t.Fatalf("after line %d, %s: got that it is lacking, and a fresh handle finds %v", i, key, there)
			}
			found(t, f.log, digestOf(key), []byte(key))
			if lacks {
				told++
			}
		}
	}
	if told < 60 {
		t.Errorf("got %d answers, want at least 60: the search is to be spared", told)
	}
}

// Whatever may have brought a key into the log unseen makes the search needed. It is long
// because its rows are in one table.
func TestLacksIsNotSaidOfWhatChanged(t *testing.T) {
	for name, change := range map[string]func(f *fixture, path string) error{
		"moved away": func(_ *fixture, path string) error { return os.Rename(path, path+".away") },
		"replaced by a copy that has the key": func(_ *fixture, path string) error {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			raw = append(raw, keyed("m9", "new")+"\n"...)
			if err := os.WriteFile(path+".copy", raw, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".copy", path)
		},
		"shorter": func(_ *fixture, path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, info.Size()/2)
		},
		"put back while the handle was closed": func(f *fixture, path string) error {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			lines := bytes.SplitAfter(raw, []byte("\n"))
			long := strings.Repeat("m", len(lines[1])-1-len(keyed("", "new")))
			lines[1] = []byte(keyed(long, "new") + "\n")
			raw = slices.Concat(lines...)
			// The new file may well get the number of the old one.
			if err := errors.Join(f.log.Close(), os.Remove(path), os.WriteFile(path, raw, 0o600)); err != nil {
				return err
			}
			for range 2 {
				if _, err := f.tryWrite(keyed("m2", "k1")); err != nil {
					return err
				}
			}
			return nil
		},
		"damage behind it":  func(_ *fixture, path string) error { return appendBytes(path, "damage\n") },
		"the key behind it": func(_ *fixture, path string) error { return appendBytes(path, keyed("m9", "new")+"\n") },
		"a segment before": func(f *fixture, _ string) error {
			return os.WriteFile(f.opts.Legacy, []byte(keyed("m9", "new")+"\n"), 0o600)
		},
		"a segment follows": func(f *fixture, _ string) error {
			return os.WriteFile(segmentPath(f, 2), []byte(keyed("m9", "new")+"\n"), 0o600)
		},
		"its directory went": func(f *fixture, _ string) error { return os.Rename(f.opts.Dir, f.opts.Dir+".away") },
	} {
		for _, under := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", under the lock: ", under), func(t *testing.T) {
				f := newFixture(t, t.TempDir(), segment.Options{})
				defer f.close()
				for range 3 {
					f.write(t, keyed("m1", "k1"))
					found(t, f.log, digestOf("new"), nil)
				}
				for range 2 { // the second time knows of the first one's look
					if !f.lacks(t, under, "new") || f.lacks(t, under, "k1") {
						t.Fatal("got no use of the filter")
					}
				}
				must(t, change(f, segmentPath(f, 1)))
				for range 2 {
					if f.lacks(t, under, "new") {
						t.Error("got that the key is lacking, and only a search can tell")
					}
				}
			})
		}
	}
}

// Where more than one segment is missing a key may have been in them.
func TestLacksIsNotSaidOfALogWithAHole(t *testing.T) {
	for name, missing := range map[string][]int{"at its start": {1, 2}, "in the middle": {3, 4}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 1})
			defer f.close()
			for range 6 {
				f.write(t, keyed("m1", "k1"))
			}
			f.opts.SegmentBytes = 0
			log := f.handle(t)
			defer log.Close()
			found(t, log, digestOf("new"), nil) // reads what each header says
			for _, n := range missing {
				must(t, os.Remove(segmentPath(f, n)))
			}
			f.write(t, keyed("m1", "k1"))
			for range 4 {
				f.writeBy(t, log, keyed("m1", "k1"))
				if len(found(t, log, digestOf("new"), nil)) == 0 || log.Lacks(nil, digestOf("new")) {
					t.Fatal("got that the key is lacking, and it may have been in a segment that is missing")
				}
			}
		})
	}
}
