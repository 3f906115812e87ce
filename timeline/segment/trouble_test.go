package segment_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// A trouble makes one call of a disk fail.
type trouble struct {
	do   string // which kind of call
	err  error  // nil: a write that is short without an error
	part bool   // half of the bytes of a write arrive
	left int    // how many calls of the kind go well before
	hit  bool
}

func (b *trouble) strikes(do string) bool {
	if do != b.do || b.hit {
		return false
	}
	b.left--
	b.hit = b.left < 0
	return b.hit
}

func (b *trouble) call(do string, real func() error) error {
	if b.strikes(do) {
		return b.err
	}
	return real()
}

func (b *trouble) write(do string, p []byte, real func(p []byte) (int, error)) (n int, err error) {
	if !b.strikes(do) {
		return real(p)
	}
	if b.part {
		n, err = real(p[:len(p)/2])
	}
	return n, errors.Join(err, b.err)
}

func (b *trouble) disk() segment.Disk {
	real := segment.RealDisk()
	return segment.Disk{
		Create: func(path string, flags int) (f *os.File, err error) {
			err = b.call("create", func() error { f, err = real.Create(path, flags); return err })
			return f, err
		},
		Mkdir: func(path string) error { return b.call("mkdir", func() error { return real.Mkdir(path) }) },
		Write: func(f *os.File, p []byte) (int, error) {
			return b.write("write", p, func(p []byte) (int, error) { return real.Write(f, p) })
		},
		WriteAt: func(f *os.File, p []byte, off int64) (int, error) {
			return b.write("write at", p, func(p []byte) (int, error) { return real.WriteAt(f, p, off) })
		},
		Truncate: func(f *os.File, size int64) error {
			return b.call("truncate", func() error { return real.Truncate(f, size) })
		},
		DataSync: func(*os.File) error { return b.call("sync", func() error { return nil }) },
		SyncDir:  func(string) error { return b.call("sync names", func() error { return nil }) },
		Rename:   func(from, to string) error { return b.call("rename", func() error { return real.Rename(from, to) }) },
		Remove:   func(path string) error { return b.call("remove", func() error { return real.Remove(path) }) },
		ReadDir: func(d *os.File) (list []os.DirEntry, err error) {
			err = b.call("read names", func() error { list, err = real.ReadDir(d); return err })
			return list, err
		},
	}
}

// Each call that touches the disk fails once, at each of its places in appending,
// rotating and sealing. The caller is told, by the right sentinel; what was
// acknowledged stays, what was refused is not there; and the next write goes well, on
// a new handle if a sync had failed.
func TestEachCallFails(t *testing.T) {
	for _, tt := range []struct {
		do   string
		err  error
		part bool
		want error
	}{
		{"create", syscall.ENOSPC, false, segment.ErrFull},
		{"create", syscall.EDQUOT, false, segment.ErrFull},
		{"create", syscall.EMFILE, false, syscall.EMFILE},
		{"create", syscall.EROFS, false, syscall.EROFS},
		{"mkdir", syscall.ENOSPC, false, segment.ErrFull},
		{"write", syscall.ENOSPC, true, segment.ErrFull},
		{"write", syscall.EDQUOT, false, segment.ErrFull},
		{"write", syscall.EIO, true, syscall.EIO},
		{"write", syscall.EROFS, false, syscall.EROFS},
		{"write", nil, true, nil},
		{"write at", syscall.ENOSPC, true, segment.ErrFull},
		{"write at", syscall.EIO, false, syscall.EIO},
		{"sync", syscall.EIO, false, syscall.EIO},
		{"sync", syscall.ENOSPC, false, syscall.ENOSPC},
		{"sync names", syscall.EIO, false, syscall.EIO},
		{"rename", syscall.EIO, false, syscall.EIO},
		{"rename", syscall.ENOSPC, false, segment.ErrFull},
		{"remove", syscall.EIO, false, syscall.EIO},
		{"read names", syscall.EMFILE, false, syscall.EMFILE},
	} {
		name := fmt.Sprintf("%s, %v, part %v", tt.do, tt.err, tt.part)
		t.Run(name, func(t *testing.T) {
			for at := 0; ; at++ {
				b := &trouble{do: tt.do, err: tt.err, part: tt.part, left: at}
				err := underTrouble(t, b)
				if !b.hit {
					if at == 0 {
						t.Error("the call is never made")
					}
					return
				}
				if err == nil && tt.do != "remove" || tt.want != nil && err != nil && !errors.Is(err, tt.want) {
					t.Errorf("call %d: got %v, want %v", at, err, tt.want)
				}
			}
		})
	}
}

// underTrouble writes, rotates and seals on a disk that fails once, and returns the
// error that somebody was told.
func underTrouble(t *testing.T, b *trouble) (told error) {
	t.Helper()
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 450})
	defer f.close()
	f.log.SetDisk(b.disk())
	var sure []string
	doubt := map[string]bool{} // whose sync failed
	for i := range 9 {
		id := fmt.Sprint("m", i)
		w, err := f.tryWrite(public(id))
		written := err == nil
		if err == nil {
			err = f.log.Sync(w)
		}
		switch {
		case err == nil:
			sure = append(sure, id)
		case written:
			doubt[id] = true
		}
		if err == nil && i == 6 {
			_, err = f.log.Seal(context.Background(), f.locks)
		}
		if err == nil {
			continue
		}
		if told != nil {
			t.Fatalf("failed twice: %v, then %v", told, err)
		}
		if told = err; errors.Is(err, segment.ErrFaulted) {
			if _, err := f.tryWrite(public("refused")); !errors.Is(err, segment.ErrFaulted) {
				t.Fatalf("after %v: got %v, want %v", told, err, segment.ErrFaulted)
			}
			must(t, f.log.Close())
			f.log = f.handle(t)
			f.log.SetDisk(b.disk())
		}
	}
	checkTrouble(t, f, sure, doubt, told)
	return told
}

// checkTrouble looks at what a failing disk has left: exactly what was acknowledged,
// and of what is in doubt any part, with nothing damaged.
func checkTrouble(t *testing.T, f *fixture, sure []string, doubt map[string]bool, told error) {
	t.Helper()
	items, bad := readFrom(t, f.handle(t), 0)
	if _, damage := verify(t, f.handle(t)); len(bad)+len(damage) > 0 {
		t.Fatalf("after %v: damage %v", told, damage)
	}
	for i, it := range items {
		if it.seq != uint64(i) {
			t.Fatalf("after %v: got sequence %d at place %d", told, it.seq, i)
		}
		if doubt[it.id] {
			continue
		}
		if len(sure) == 0 || sure[0] != it.id {
			t.Fatalf("after %v: got %s, want %v", told, it.id, sure)
		}
		sure = sure[1:]
	}
	if len(sure) > 0 {
		t.Fatalf("after %v: %v are not there", told, sure)
	}
}
