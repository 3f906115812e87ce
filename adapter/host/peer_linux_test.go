package host_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

const nobody = 65534

// asNobody runs do on a thread that belongs to another user, and is not used again.
func asNobody(t *testing.T, do func() error) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), nobody, ^uintptr(0)); errno != 0 {
			done <- errno
			return
		}
		done <- do()
	}()
	if err := receive(t, "the other user", done); err != nil {
		t.Fatal(err)
	}
}

// openToAll lets everybody reach the socket, as nothing of docket does.
func openToAll(t *testing.T, dir string) {
	t.Helper()
	for _, path := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnotherUserIsNotServed(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	record(t, dir)
	openToAll(t, dir)
	if err := os.Chmod(filepath.Join(dir, "host.sock"), 0o777); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() error {
		c, err := net.Dial("unix", filepath.Join(dir, "host.sock"))
		if err != nil {
			return err
		}
		defer c.Close()
		heard := make([]byte, 1000)
		n, _ := c.Read(heard)
		if got := string(heard[:n]); !strings.HasPrefix(got, `{"type":"fault"`) || !strings.Contains(got, "another user") {
			t.Errorf("got %q, want a fault and no welcome", got)
		}
		return nil
	})
	insert(t, dir, prompt("m1"), adapter.Taken)
}

func TestAnotherUsersHostIsNotUsed(t *testing.T) {
	dir := newDir(t)
	openToAll(t, dir)
	var l net.Listener
	asNobody(t, func() error {
		var err error
		l, err = (&net.ListenConfig{}).Listen(context.Background(), "unix", filepath.Join(dir, "host.sock"))
		return err
	})
	defer l.Close()
	err := host.NewClient(dir).Insert(t.Context(), prompt("m1"))
	if !errors.Is(err, host.ErrPeer) || !errors.Is(err, adapter.ErrBlocked) {
		t.Errorf("Insert: got %v, want a refusal that is ErrPeer", err)
	}
	if _, err := host.Attach(t.Context(), dir); !errors.Is(err, host.ErrPeer) {
		t.Errorf("Attach: got %v, want ErrPeer", err)
	}
}
