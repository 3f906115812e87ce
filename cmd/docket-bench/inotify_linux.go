package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
)

// rawStamper stamps a file.
func rawStamper(dir string) (stamper, func() error, error) {
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	return func(now string) error {
		_, err := f.WriteString(now + "\n")
		return err
	}, f.Close, err
}

// followRawRole is a child that asks the system itself for changes of the file, and
// reads what was appended.
func followRawRole(args []string) (crew.Worker, error) {
	f, err := os.Open(filepath.Join(args[0], "log"))
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	notify, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if _, err := unix.InotifyAddWatch(notify, f.Name(), unix.IN_MODIFY); err != nil {
		return nil, err
	}
	seen := make(chan sighting, 1)
	go func() {
		events, text := make([]byte, 4096), make([]byte, 4096)
		for {
			if _, err := unix.Read(notify, events); err != nil {
				seen <- sighting{err: os.NewSyscallError("read", err)}
				return
			}
			n, err := f.Read(text)
			if err != nil {
				seen <- sighting{err: err}
				return
			}
			age, err := since(strings.TrimSpace(string(text[:n])))
			seen <- sighting{age, err}
		}
	}()
	return watched(seen), nil
}

// watchRaw watches directories and does nothing with what it hears.
func watchRaw(dirs []string) error {
	notify, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if _, err := unix.InotifyAddWatch(notify, dir, unix.IN_MODIFY|unix.IN_CREATE); err != nil {
			return os.NewSyscallError("inotify_add_watch", err)
		}
	}
	return nil
}
