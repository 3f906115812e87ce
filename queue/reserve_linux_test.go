package queue_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// Room is set aside behind the end, where no reader sees it.
func TestReserveTakesRoom(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	before := d.content()
	e := entry("b")
	e.Text = strings.Repeat("b", 1<<20)
	d.must(func(held *lock.Record) error { return d.Reserve(held, e) })
	info, err := os.Stat(d.path())
	if err != nil || d.content() != before {
		t.Fatalf("got %d bytes, %v, want %d", info.Size(), err, len(before))
	}
	if room := info.Sys().(*syscall.Stat_t).Blocks * 512; room < 1<<20 {
		t.Errorf("got room for %d bytes, want at least %d", room, 1<<20)
	}
}

func init() {
	ownRoles["small disk"] = onSmallDisk
	ownRoles["nothing"] = func(string) error { return nil }
}

// islander is a child in a mount namespace of its own, where it may put a file
// system over dir that vanishes with it.
func islander(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, dir)
	cmd.Env = append(os.Environ(), childRole+"="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return cmd
}

// On a disk with less room than one step of reservation a message is accepted as
// long as it fits, and can be claimed when nothing is free any more.
func TestReserveOnASmallDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := islander(t, "nothing", dir).CombinedOutput(); err != nil {
		t.Skipf("no file system of its own can be made here: %v %s", err, out)
	}
	if out, err := islander(t, "small disk", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func onSmallDisk(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		return err
	}
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		return err
	}
	d := &desk{q, failing{}, dir}
	d.enqueue("a")
	e, large := entry("b"), entry("c")
	e.Text, large.Text = strings.Repeat("b", 5000), strings.Repeat("c", 100_000)
	d.must(func(held *lock.Record) error {
		if err := d.Reserve(held, e); err != nil {
			return err
		}
		if err := fill(dir); err != nil {
			return err
		}
		return errors.Join(d.Enqueue(held, e), d.Claim(held, "a"))
	})
	if !d.head().Unconfirmed() {
		return errors.New("the claim is not there")
	}
	err = d.hold(func(held *lock.Record) error { return d.Reserve(held, large) })
	var write *queue.WriteError
	if !errors.As(err, &write) || !write.Before || !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("reserve of what does not fit: got %w, want a WriteError that left the file as it was", err)
	}
	d.remove("a")
	d.atRest([]string{"b"})
	return inTheSpare(d, e)
}

// inTheSpare empties the queue. A first message is accepted then as long as it fits
// into what the last list has left on the full disk.
func inTheSpare(d *desk, e queue.Entry) error {
	d.remove("b")
	d.must(func(held *lock.Record) error {
		c := entry("c")
		err := d.Reserve(held, c)
		c.Seq, c.HasSeq = 1<<63, true
		return errors.Join(err, d.Enqueue(held, c))
	})
	d.atRest([]string{"c"})
	d.remove("c")
	err := d.hold(func(held *lock.Record) error { return d.Reserve(held, e) })
	var write *queue.WriteError
	if !errors.As(err, &write) || !write.Before || !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("reserve in the spare: got %w, want a WriteError that left nothing", err)
	}
	d.atRest(nil)
	return nil
}

// fill leaves no room on the disk.
func fill(dir string) error {
	f, err := os.Create(filepath.Join(dir, "filler"))
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// failing ends a child at its first failure.
type failing struct{}

func (failing) Helper() {}
func (failing) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
