package segment

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
)

// Sealed says what sealing did to one segment.
type Sealed struct {
	Segment    uint64
	Path       string // the compressed file
	PlainBytes int64
	Bytes      int64
}

// Seal compresses every numbered segment but the highest. It reads and compresses
// without a lock, since such a segment does not change any more, and takes the
// record lock from locks only to exchange the files. The caller must not hold it.
//
// An error leaves the segment that it names as it was; those that are returned
// with it are sealed. Any number of processes may seal and read at the same time.
// If the process dies inside, readers use whichever form is whole, and the next
// Seal removes what is left over.
func (l *Log) Seal(ctx context.Context, locks *lock.Dir) ([]Sealed, error) {
	ls, err := l.list()
	if err != nil {
		return nil, err
	}
	l.tidy(&ls)
	var done []Sealed
	for i, e := range ls.segments {
		if e.n == 0 || !e.plain || i == len(ls.segments)-1 {
			continue
		}
		s, err := l.sealOne(ctx, locks, e.n)
		for tries := 1; errors.Is(err, errOvertaken) && tries < overtaken; tries++ {
			s, err = l.sealOne(ctx, locks, e.n)
		}
		if errors.Is(err, os.ErrNotExist) {
			continue // another sealer was faster
		}
		if err != nil {
			return done, err
		}
		done = append(done, s)
	}
	return done, nil
}

// sealOne seals one segment. The order of its steps: the draft is on stable storage
// and compared with the plain file before it gets its name, and the name is
// durable before the plain file goes.
func (l *Log) sealOne(ctx context.Context, locks *lock.Dir, n uint64) (Sealed, error) {
	src, err := openPlain(n, l.plainPath(n))
	if err != nil {
		return Sealed{}, err
	}
	defer src.Close()
	draft, err := l.newDraft(l.sealedPath(n), os.O_RDWR)
	if err != nil {
		return Sealed{}, full(err)
	}
	defer l.disk.remove(draft.Name())
	defer draft.Close()
	step.At("segment: seal draft created")
	if err := l.compress(ctx, src, draft); err != nil {
		return Sealed{}, fmt.Errorf("segment: seal %s: %w", src.path, full(err))
	}
	step.At("segment: seal draft written")
	if err := l.compare(ctx, src, draft.Name()); err != nil {
		return Sealed{}, err
	}
	info, err := draft.Stat()
	if err != nil {
		return Sealed{}, fmt.Errorf("segment: %w", err)
	}
	if err := l.exchange(ctx, locks, src, draft.Name()); err != nil {
		return Sealed{}, err
	}
	return Sealed{Segment: n, Path: l.sealedPath(n), PlainBytes: src.info.Size(), Bytes: info.Size()}, nil
}

// exchange puts the draft in the place of the plain file, under the record lock.
func (l *Log) exchange(ctx context.Context, locks *lock.Dir, src *source, draft string) (err error) {
	held, err := locks.Record(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	if err := held.Covers(l.lockDir); err != nil {
		return err
	}
	now, err := os.Lstat(src.path)
	if err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	if !os.SameFile(now, src.info) || now.Size() != src.info.Size() {
		return fmt.Errorf("segment: %s changed while it was sealed: find the program that writes to it", src.path)
	}
	if err := l.disk.rename(draft, l.sealedPath(src.n)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return errOvertaken
		}
		return fmt.Errorf("segment: %w", full(err))
	}
	step.At("segment: seal named")
	if err := l.disk.syncDir(l.o.Dir); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	step.At("segment: seal name synced")
	if err := l.disk.remove(src.path); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	step.At("segment: plain file removed")
	if err := l.disk.syncDir(l.o.Dir); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	return nil
}
