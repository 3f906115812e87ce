package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/filelock"
	"github.com/docket-go/docket/lock/durable"
	"github.com/docket-go/docket/lock/step"
)

// Insert appends p as one line.
//
// Nil promises that the line is on stable storage. An error that is
// [adapter.ErrRefused] leaves the file as it was: the context had ended, the
// prompt does not fit the format, the file could not be opened, another writer
// did not finish in time ([adapter.ErrBusy]), or the line could not be written
// whole and what was written is cut off again. An error that is
// [adapter.ErrUnconfirmed] means that the line, or a part of it that could not be
// cut off, is in the file but not proven to stay there.
//
// It may be called by any number of goroutines and processes. If the process
// dies inside, Lookup knows whether the line arrived.
func (a *Adapter) Insert(ctx context.Context, p adapter.Prompt) error {
	line, err := encode(a.now(), p)
	if err != nil {
		return adapter.Refuse(fmt.Errorf("file: message %s: %w", p.MID, err))
	}
	f, err := a.open(ctx, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return adapter.Refuse(err)
	}
	defer f.Close()
	if err := a.append(f, line); err != nil {
		return fmt.Errorf("file: %s: %w", a.path, err)
	}
	return nil
}

// append heals the end of the file, writes the line with one write and syncs it.
// A crash after the healing leaves a whole file, one inside the write a line
// without a newline, and one before the sync a whole line.
func (a *Adapter) append(f *os.File, line []byte) error {
	info, err := f.Stat()
	if err != nil {
		return adapter.Refuse(err)
	}
	end, glue, err := heal(f, info.Size())
	if err != nil {
		return adapter.Refuse(err)
	}
	step.At("adapter/file: healed")
	if n, err := a.write(f, append(glue, line...)); err != nil {
		return a.undo(f, end, n, err)
	}
	step.At("adapter/file: written")
	if err := f.Sync(); err != nil {
		return adapter.Unconfirm(err)
	}
	step.At("adapter/file: synced")
	if end > 0 {
		return nil
	}
	if err := durable.Names(filepath.Dir(a.path)); err != nil {
		return adapter.Unconfirm(err)
	}
	return nil
}

// undo cuts off the n bytes that a failed write left behind end.
func (a *Adapter) undo(f *os.File, end int64, n int, cause error) error {
	if n == 0 {
		return adapter.Refuse(cause)
	}
	step.At("adapter/file: written in part")
	if err := f.Truncate(end); err != nil {
		return adapter.Unconfirm(errors.Join(cause, err))
	}
	return adapter.Refuse(cause)
}

// open opens the file and locks it. The lock goes with the handle.
func (a *Adapter) open(ctx context.Context, flag int) (*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("file: %s: not begun: %w", a.path, err)
	}
	f, err := os.OpenFile(a.path, flag, 0o600)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	step.At("adapter/file: opened")
	if err := a.hold(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// hold locks an open file and makes sure that it is still the one at the path.
func (a *Adapter) hold(ctx context.Context, f *os.File) error {
	opened, err := f.Stat()
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	if !opened.Mode().IsRegular() {
		return a.notRegular()
	}
	if err := a.await(ctx, f); err != nil {
		return err
	}
	if named, err := os.Stat(a.path); err != nil || !os.SameFile(opened, named) {
		return adapter.Because(adapter.ErrBusy, fmt.Errorf("file: %s: replaced meanwhile: it is tried again later", a.path))
	}
	return nil
}

// await polls for the lock, so that a waiter holds no thread and ends with its
// context.
func (a *Adapter) await(ctx context.Context, f *os.File) error {
	if a.wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.wait, errOtherWriter)
		defer cancel()
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		locked, err := filelock.Try(f)
		if errors.Is(err, filelock.ErrUnsupported) { // one process must do all the writing here
			return nil
		}
		if err != nil {
			return fmt.Errorf("file: %s: lock: %w", a.path, err)
		}
		if locked {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return adapter.Because(adapter.ErrBusy, fmt.Errorf("file: %s: %w", a.path, context.Cause(ctx)))
		}
	}
}

var errOtherWriter = errors.New("another writer holds the file: it is tried again later")

// heal makes the end of a file of that size fit for another line. It cuts off a
// line of this package that has no newline, and returns the size then and the
// newline that must come first where somebody else's bytes stand there.
func heal(f *os.File, size int64) (end int64, glue []byte, err error) {
	start, err := lastLine(f, size)
	if err != nil || start == size {
		return size, nil, err
	}
	head := make([]byte, min(int64(len(opening)), size-start))
	if _, err := f.ReadAt(head, start); err != nil {
		return 0, nil, err
	}
	if string(head) != opening[:len(head)] {
		return size, []byte("\n"), nil
	}
	return start, nil, f.Truncate(start)
}

// lastLine returns the offset behind the last newline before size.
func lastLine(r io.ReaderAt, size int64) (int64, error) {
	block := make([]byte, 64<<10)
	for end := size; end > 0; {
		start := max(0, end-int64(len(block)))
		part := block[:end-start]
		if _, err := r.ReadAt(part, start); err != nil {
			return 0, err
		}
		for i := len(part) - 1; i >= 0; i-- {
			if part[i] == '\n' {
				return start + int64(i) + 1, nil
			}
		}
		end = start
	}
	return 0, nil
}
