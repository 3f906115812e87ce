package segment_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// Goroutines that sync at the same time share data syncs: while one sync runs,
// everything that is written waits for a single further one.
func TestSyncIsShared(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{})
	defer f.close()
	must(t, f.log.Sync(f.write(t, public("first"))))
	const writers = 40
	var syncs atomic.Int64
	var started, all sync.WaitGroup
	release := make(chan struct{})
	f.log.SetDisk(segment.Disk{DataSync: func(file *os.File) error {
		if syncs.Add(1) == 1 {
			<-release
		}
		return segment.DataSync(file)
	}})
	started.Add(writers)
	for i := range writers {
		all.Go(func() {
			w, err := f.tryWrite(public(fmt.Sprint("m", i)))
			started.Done()
			if err == nil {
				err = f.log.Sync(w)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	started.Wait()
	close(release)
	all.Wait()
	if n := syncs.Load(); n < 1 || n > 2 {
		t.Errorf("got %d data syncs for %d writers, want 1 or 2", n, writers)
	}
}

func TestSyncAllCoversOtherHandles(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 600})
	defer f.close()
	filled(t, f, 10)
	other := f.handle(t)
	var synced []string
	other.SetDisk(segment.Disk{DataSync: func(file *os.File) error {
		synced = append(synced, file.Name())
		return segment.DataSync(file)
	}})
	for range 2 {
		must(t, other.SyncAll())
	}
	if len(synced) != 1 || synced[0] != newestPath(f) {
		t.Errorf("got %v, want one sync of %s", synced, newestPath(f))
	}
	f.write(t, private("more"))
	must(t, other.SyncAll())
	if len(synced) != 2 {
		t.Errorf("got %d syncs after a further line, want 2", len(synced))
	}
}

func TestBufferedNeverSyncsAMessage(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{Buffered: true})
	defer f.close()
	f.write(t, public("first"))
	f.log.SetDisk(segment.Disk{DataSync: func(*os.File) error { return syscall.EIO }})
	must(t, f.log.Sync(f.write(t, public("second"))))
	must(t, f.log.SyncAll())
}

func TestFailedSyncFaultsTheHandle(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{})
	defer f.close()
	w := f.write(t, public("first"))
	must(t, f.log.Sync(w))
	lost := f.write(t, public("second"))
	fail := true
	f.log.SetDisk(segment.Disk{DataSync: func(file *os.File) error {
		if fail {
			return syscall.EIO
		}
		return nil
	}})
	if err := f.log.Sync(lost); !errors.Is(err, segment.ErrFaulted) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v, want a fault that wraps EIO", err)
	}
	fail = false
	if err := f.log.Sync(lost); !errors.Is(err, segment.ErrFaulted) {
		t.Errorf("second sync: got %v, want %v", err, segment.ErrFaulted)
	}
	if err := f.log.SyncAll(); !errors.Is(err, segment.ErrFaulted) {
		t.Errorf("sync of all: got %v, want %v", err, segment.ErrFaulted)
	}
	if _, err := f.tryWrite(public("third")); !errors.Is(err, segment.ErrFaulted) {
		t.Errorf("write: got %v, want %v", err, segment.ErrFaulted)
	}
	if err := f.log.Sync(w); err != nil {
		t.Errorf("what was synced before: got %v", err)
	}
	f.log = f.handle(t)
	must(t, f.log.Sync(f.write(t, public("third"))))
	got, _ := readFrom(t, f.log, 0)
	if len(got) != 3 {
		t.Errorf("got %d lines, want 3", len(got))
	}
}

// A full disk takes a part of the bytes, or none.
func TestFullDisk(t *testing.T) {
	for _, tt := range []struct {
		name     string
		taken    int
		truncate error // what the undo says
	}{
		{"nothing taken", 0, nil},
		{"a part taken", 20, nil},
		{"a part taken and stuck", 20, syscall.EIO},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, t.TempDir(), segment.Options{})
			defer f.close()
			want := filled(t, f, 3)
			d := segment.Disk{Write: func(file *os.File, p []byte) (int, error) {
				n, err := file.Write(p[:tt.taken])
				return n, errors.Join(err, &os.PathError{Op: "write", Path: file.Name(), Err: syscall.ENOSPC})
			}}
			if tt.truncate != nil {
				d.Truncate = func(*os.File, int64) error { return tt.truncate }
			}
			before := fileBytes(t, newestPath(f))
			f.log.SetDisk(d)
			_, err := f.tryWrite(public("refused"))
			if !errors.Is(err, segment.ErrFull) || !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("got %v, want a full disk", err)
			}
			if after := fileBytes(t, newestPath(f)); tt.truncate == nil && string(after) != string(before) {
				t.Errorf("the refused write changed the file")
			}
			f.log.SetDisk(segment.Disk{})
			w := f.write(t, public("next"))
			got, bad := readFrom(t, f.log, 0)
			sameItems(t, "after", got, append(want, item{"next", true, w.First}))
			if len(bad) > 0 {
				t.Errorf("got damage %v", bad)
			}
		})
	}
}

// A rotation that fails for want of space leaves the log writable later.
func TestFullDiskInRotation(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 500})
	defer f.close()
	var want []item
	for i := range 40 {
		if i%2 == 0 {
			f.log.SetDisk(segment.Disk{Write: func(file *os.File, p []byte) (int, error) {
				n, err := file.Write(p[:len(p)/2])
				return n, errors.Join(err, syscall.ENOSPC)
			}})
			if _, err := f.tryWrite(public("refused")); !errors.Is(err, segment.ErrFull) {
				t.Fatalf("got %v, want %v", err, segment.ErrFull)
			}
			f.log.SetDisk(segment.Disk{})
		}
		id := fmt.Sprint("m", i)
		want = append(want, item{id, true, f.write(t, public(id)).First})
	}
	got, bad := readFrom(t, f.handle(t), 0)
	sameItems(t, "forward", got, want)
	if _, damage := verify(t, f.log); len(bad) > 0 || len(damage) > 0 {
		t.Errorf("got damage %v %v", bad, damage)
	}
}

func TestFindKey(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 1200})
	defer f.close()
	want := map[string][]item{}
	for i := range 60 {
		key, id := fmt.Sprint("k", i%9), fmt.Sprint("m", i)
		w := f.write(t, fmt.Sprintf(`{"kind":"p","id":%q,"key":%q}`, id, key))
		want[key] = append([]item{{id, true, w.First}}, want[key]...)
		if i == 40 {
			_, err := f.log.Seal(context.Background(), f.locks)
			must(t, err)
		}
	}
	for i := range 12 {
		key := fmt.Sprint("k", i)
		digest, _ := testSchema{}.Key(fmt.Appendf(nil, `{"key":%q}`, key))
		for _, log := range []*segment.Log{f.log, f.handle(t)} {
			var got []item
			for line, err := range log.FindKey(context.Background(), digest, nil) {
				must(t, err)
				it, _ := itemOf(line)
				got = append(got, it)
			}
			sameItems(t, key, got, want[key])
		}
	}
}

// A handle that looks again and again says what a fresh one says, whatever is appended
// or damaged in between.
func TestFindKeyAgain(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 2500})
	defer f.close()
	looking := f.handle(t)
	for i := range 80 {
		switch n := newestNumber(t, f); {
		case i%20 == 13:
			foreign := fmt.Sprintf(`{"kind":"p","id":"foreign","key":"k%d"}`+"\n", i%7)
			must(t, appendBytes(segmentPath(f, n), foreign))
		case i == 50:
			must(t, appendBytes(segmentPath(f, n), "damage\n"))
		}
		f.write(t, fmt.Sprintf(`{"kind":"p","id":"m%d","key":"k%d"}`, i, i%9))
		for _, key := range []string{"k0", fmt.Sprint("k", i%9), "never"} {
			digest, _ := testSchema{}.Key(fmt.Appendf(nil, `{"key":%q}`, key))
			got, want := found(t, looking, digest, []byte(key)), found(t, f.handle(t), digest, nil)
			if !slices.Equal(got, want) {
				t.Fatalf("after line %d, %s: got %v, a fresh handle %v", i, key, got, want)
			}
		}
	}
}

// found is what FindKey yields, in words.
func found(t *testing.T, log *segment.Log, digest, text []byte) (all []string) {
	t.Helper()
	for line, err := range log.FindKey(t.Context(), digest, text) {
		must(t, err)
		all = append(all, fmt.Sprint(line.Class, line.Seq, line.Segment, line.Offset, string(line.Bytes)))
	}
	return all
}

func newestNumber(t *testing.T, f *fixture) int {
	t.Helper()
	v, err := f.handle(t).View(t.Context())
	must(t, err)
	n := 1
	for line, err := range v.Backward(t.Context()) {
		must(t, err)
		n = int(line.Segment)
		break
	}
	return n
}

func appendBytes(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func TestFacts(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 700})
	defer f.close()
	for i := range 30 {
		f.write(t, public(fmt.Sprint("m", i)))
		v, err := f.log.View(context.Background())
		must(t, err)
		base, err := v.Facts(context.Background())
		must(t, err)
		fold := testSchema{}.Fold(base.Facts)
		for line, err := range v.Forward(context.Background(), base.Segment) {
			must(t, err)
			if !line.Header {
				fold.Add(line)
			}
		}
		if got, want := string(fold.Facts()), fmt.Sprintf(`{"lines":%d,"last":"m%d"}`, i+1, i); got != want {
			t.Fatalf("got facts %s, want %s", got, want)
		}
	}
}

// Syncs go on while the handle moves to the next segment or is closed.
func TestSyncBesideRotationAndClose(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 400})
	defer f.close()
	var all sync.WaitGroup
	for g := range 6 {
		all.Go(func() {
			for i := range 25 {
				w, err := f.tryWrite(public(fmt.Sprintf("%d.%d", g, i)))
				if err == nil && i%10 == 9 {
					err = f.log.Close()
				}
				if err = errors.Join(err, f.log.Sync(w)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if got, _ := readFrom(t, f.log, 0); len(got) != 150 {
		t.Errorf("got %d lines, want 150", len(got))
	}
}

// The handle lets go of the file between a caller's decision to sync and the sync
// itself: the sync goes by the name then, and nothing is faulted.
func TestSyncOfAFileThatWasClosedMeanwhile(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{})
	defer f.close()
	w := f.write(t, public("m"))
	calls := 0
	f.log.SetDisk(segment.Disk{DataSync: func(file *os.File) error {
		if calls++; calls == 1 {
			must(t, f.log.Close())
		}
		return segment.DataSync(file)
	}})
	must(t, f.log.Sync(w))
	if calls != 2 {
		t.Errorf("got %d calls, want 2", calls)
	}
}

// A handle that looks again sees what was appended, rotated, sealed, removed and made
// again in between, as a fresh one does.
func TestViewAgain(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 600})
	defer f.close()
	looking := f.handle(t)
	same := func(what string) {
		t.Helper()
		got, _ := readBack(t, looking)
		want, _ := readBack(t, f.handle(t))
		if len(want) == 0 {
			t.Fatalf("%s: nothing is there", what)
		}
		sameItems(t, what, got, want)
	}
	for i := range 20 {
		f.write(t, public(fmt.Sprint("m", i)))
		same("appended")
	}
	_, err := f.log.Seal(context.Background(), f.locks)
	must(t, err)
	same("sealed")
	must(t, os.Remove(segmentPath(f, 2)+".zst"))
	same("a segment removed")
	must(t, os.WriteFile(f.opts.Legacy, []byte(public("older")+"\n"), 0o600))
	same("a log of another writer put before it")
	must(t, os.RemoveAll(f.opts.Dir))
	must(t, os.Remove(f.opts.Legacy))
	f.log = f.handle(t)
	for i := range 20 {
		f.write(t, public(fmt.Sprint("n", i)))
	}
	same("made again")
	must(t, os.RemoveAll(f.opts.Dir))
	if got, _ := readBack(t, looking); len(got) > 0 {
		t.Errorf("got %v of a log that is gone", got)
	}
	must(t, os.Remove(f.dir+"/record.lock"))
	must(t, os.Remove(f.dir))
	if _, err := looking.View(t.Context()); !errors.Is(err, segment.ErrClosed) {
		t.Errorf("without the session: got %v, want %v", err, segment.ErrClosed)
	}
}
