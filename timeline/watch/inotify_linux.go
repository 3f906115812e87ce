package watch

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// What is asked of the system for each directory: every change of an entry, and the end
// of the directory itself.
const (
	entryChanges = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	ownEnd       = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_UNMOUNT | unix.IN_IGNORED
	wanted       = entryChanges | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR
)

// An inotify is the notification of Linux, read by one goroutine that tells the hub
// itself: a goroutine in between would cost an event a third of its way.
type inotify struct {
	heard func(dir, name string, gone bool)
	lost  func()
	file  *os.File

	mu    sync.Mutex
	fd    int                // -1 once it is closed
	dirs  map[int32][]string // by watch; one directory may have had several paths
	watch map[string]int32   // by directory
}

// startNotifier begins to tell heard of changes, and lost that some were not told.
func startNotifier(heard func(dir, name string, gone bool), lost func()) (notifier, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	n := &inotify{
		heard: heard, lost: lost, fd: fd, file: os.NewFile(uintptr(fd), "inotify"),
		dirs: map[int32][]string{}, watch: map[string]int32{},
	}
	go n.read()
	return n, nil
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

// read takes events until the file is closed.
func (n *inotify) read() {
	buf := make([]byte, 64<<10)
	for {
		size, err := n.file.Read(buf)
		if err != nil {
			return // it is closed; nothing else fails here
		}
		for events := buf[:size]; len(events) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(events))
			mask := binary.NativeEndian.Uint32(events[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
			name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:end], []byte{0})
			n.tell(wd, mask, name)
			events = events[end:]
		}
	}
}

// tell tells of one event.
func (n *inotify) tell(wd int32, mask uint32, name []byte) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		n.lost()
		return
	}
	gone := mask&ownEnd != 0
	n.mu.Lock()
	var few [1]string
	dirs := append(few[:0], n.dirs[wd]...)
	if gone {
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
		n.heard(dir, string(name), gone)
	}
}
