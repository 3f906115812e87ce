package watch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What is asked of the system for each directory: every change of an entry, and the end
// of the directory itself.
const (
	entryChanges = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	ownEnd       = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_UNMOUNT | unix.IN_IGNORED
	wanted       = entryChanges | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR
)

// lingers says that closing a notifier takes long, and that it costs nothing while nobody
// listens to it.
const lingers = true

// An inotify is the notification of Linux. Whoever reads it tells the hub itself: a
// goroutine in between would cost an event a third of its way.
type inotify struct {
	heard   func(dir, name string, c change)
	lost    func()
	file    *os.File
	serving sync.Once

	seat  sync.Mutex // held while reading; guards what follows
	buf   []byte
	until time.Time // when the reading ends by itself; zero means never
	ended bool      // nothing is heard any more
	conn  syscall.RawConn
	first firstRead

	mu    sync.Mutex         // guards what follows
	fd    int                // -1 once it is closed
	dirs  map[int32][]string // by watch; one directory may have had several paths
	watch map[string]int32   // by directory
}

// startNotifier begins to tell heard of changes, and lost that some were not told.
func startNotifier(heard func(dir, name string, c change), lost func()) (notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	n := &inotify{
		heard: heard, lost: lost, fd: fd, file: os.NewFile(uintptr(fd), "inotify"),
		buf: make([]byte, 64<<10), dirs: map[int32][]string{}, watch: map[string]int32{},
	}
	if n.conn, err = n.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, n.file.Close())
	}
	n.first.once = n.first.read
	return n, nil
}

func (n *inotify) serve() {
	n.serving.Do(func() { go n.attend() })
}

// attend takes events until the file is closed.
func (n *inotify) attend() {
	n.seat.Lock()
	defer n.seat.Unlock()
	n.endAt(time.Time{})
	for !n.ended {
		n.tellAll(n.file.Read(n.buf))
	}
}

func (n *inotify) take(ctx context.Context, until time.Time, bell <-chan struct{}) ending {
	if !n.seat.TryLock() {
		return others
	}
	defer n.seat.Unlock()
	n.endAt(until)
	for more := !n.ended; more && ctx.Err() == nil; {
		select {
		case <-bell:
			return rang
		default:
		}
		size, waited, err := n.await()
		if waited {
			return stirred
		}
		more = n.tellAll(size, err)
	}
	if n.ended {
		return others
	}
	return overdue
}

// await reads the events that there are into the buffer. If there is none, it waits for
// one, and does not read that. Reading and telling takes a third of the time in which a
// line that was written comes to its reader, who need not know what happened to find it.
func (n *inotify) await() (size int, waited bool, err error) {
	n.first = firstRead{into: n.buf, once: n.first.once}
	err = n.conn.Read(n.first.once)
	if err == nil {
		err = n.first.err
	}
	return n.first.size, n.first.tries > 1, err
}

// A firstRead reads an open file once, and then only waits.
type firstRead struct {
	into  []byte
	tries int
	size  int
	err   error
	once  func(fd uintptr) bool // read, which is made a function only once
}

func (r *firstRead) read(fd uintptr) (done bool) {
	if r.tries++; r.tries > 1 {
		return true
	}
	for {
		if r.size, r.err = unix.Read(int(fd), r.into); r.err != unix.EINTR {
			break
		}
	}
	if r.err == unix.EAGAIN {
		r.err = nil
		return false
	}
	return true
}

func (n *inotify) interrupt() { _ = n.file.SetReadDeadline(time.Unix(1, 0)) }

// endAt lets the reading end at a time, or never. It costs nothing while that is the same.
func (n *inotify) endAt(until time.Time) {
	if !until.Equal(n.until) {
		n.until = until
		_ = n.file.SetReadDeadline(until) // of a file that is closed, the reading ends too
	}
}

func (n *inotify) add(dir string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	wd, err := unix.InotifyAddWatch(n.fd, dir, wanted)
	if err != nil {
		return os.NewSyscallError("inotify_add_watch", err)
	}
	now := int32(wd)
	if before, known := n.watch[dir]; known && before != now {
		n.forget(dir) // another directory bore the path
	}
	n.watch[dir] = now
	if !slices.Contains(n.dirs[now], dir) {
		n.dirs[now] = append(n.dirs[now], dir)
	}
	return nil
}

func (n *inotify) remove(dir string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(dir)
}

// forget ends the watch of a path, and that of the directory if it was its last one.
func (n *inotify) forget(dir string) {
	wd, known := n.watch[dir]
	if !known {
		return
	}
	delete(n.watch, dir)
	left := slices.DeleteFunc(n.dirs[wd], func(path string) bool { return path == dir })
	if n.dirs[wd] = left; len(left) == 0 {
		n.end(wd)
	}
}

// end ends a watch. The system may have ended it with its directory.
func (n *inotify) end(wd int32) {
	delete(n.dirs, wd)
	if n.fd >= 0 {
		_, _ = unix.InotifyRmWatch(n.fd, uint32(wd))
	}
}

func (n *inotify) close() error {
	n.mu.Lock()
	n.fd = -1 // the number may be another file's from now on
	n.mu.Unlock()
	return n.file.Close()
}

// tellAll tells of the events in the buffer. It returns false if the time came instead,
// the reading was interrupted, or nothing is heard any more.
func (n *inotify) tellAll(size int, err error) bool {
	if err != nil {
		n.ended = !errors.Is(err, os.ErrDeadlineExceeded)
		n.until = time.Time{}
		_ = n.file.SetReadDeadline(n.until)
		return false
	}
	for events := n.buf[:size]; len(events) >= unix.SizeofInotifyEvent; {
		wd := int32(binary.NativeEndian.Uint32(events))
		mask := binary.NativeEndian.Uint32(events[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:end], []byte{0})
		n.tell(wd, mask, name)
		events = events[end:]
	}
	return true
}

// tell tells of one event.
func (n *inotify) tell(wd int32, mask uint32, name []byte) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		n.lost()
		return
	}
	c := altered
	switch {
	case mask&ownEnd != 0:
		c = gone
	case mask&entryChanges == unix.IN_MODIFY:
		c = written
	}
	n.mu.Lock()
	var few [1]string
	dirs := append(few[:0], n.dirs[wd]...)
	if c == gone {
		for _, dir := range dirs {
			delete(n.watch, dir)
		}
		if mask&unix.IN_MOVE_SELF != 0 && len(dirs) > 0 {
			n.end(wd) // it is there still, under another path
		}
		delete(n.dirs, wd)
	}
	n.mu.Unlock()
	for _, dir := range dirs {
		n.heard(dir, string(name), c)
	}
}
