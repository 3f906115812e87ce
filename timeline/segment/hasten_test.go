package segment_test

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// Hasten begins with exactly the lines that were written, and not where a sync is at
// work, which the next one is shared behind, or where nothing is ever synced.
func TestHasten(t *testing.T) {
	for _, buffered := range []bool{false, true} {
		f := newFixture(t, t.TempDir(), segment.Options{Buffered: buffered})
		defer f.close()
		f.write(t, public("first"))
		before := sizeAt(t, newestPath(f))
		w := f.write(t, public("second"))
		var got [][2]int64
		disk := segment.Disk{WriteOut: func(_ *os.File, from, to int64) error {
			got = append(got, [2]int64{from, to})
			return nil
		}}
		f.log.SetDisk(disk)
		f.log.Hasten(w)
		want := [][2]int64{{before, sizeAt(t, newestPath(f))}}
		if buffered {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("buffered %v: got %v, want %v", buffered, got, want)
		}
		disk.DataSync = func(file *os.File) error {
			f.log.Hasten(w)
			return segment.DataSync(file)
		}
		f.log.SetDisk(disk)
		must(t, f.log.Sync(w))
		if len(got) != len(want) {
			t.Errorf("buffered %v: got %v beside a sync, want nothing more", buffered, got)
		}
	}
}

// The system may tell once that bytes are lost: what Hasten is told, Sync returns.
func TestFailedHastenFaultsTheHandle(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{})
	defer f.close()
	w := f.write(t, public("first"))
	f.log.SetDisk(segment.Disk{WriteOut: func(*os.File, int64, int64) error { return syscall.EIO }})
	f.log.Hasten(w)
	if err := f.log.Sync(w); !errors.Is(err, segment.ErrFaulted) || !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want a fault that wraps EIO", err)
	}
}

func sizeAt(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}
