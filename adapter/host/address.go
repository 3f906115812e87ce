package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/docket-go/docket/adapter/smallfile"
	"github.com/docket-go/docket/lock/step"
)

// The files of a host in its session directory.
const (
	socketFile  = "host.sock"
	addressFile = "host.addr"
	lockFile    = "host.lock"
	agentFile   = "host.agent"
)

// listen binds the session's socket. The caller holds the host lock, so what stands
// there is of a broker that died.
func listen(dir string) (*net.UnixListener, error) {
	socket, elsewhere := filepath.Join(dir, socketFile), ""
	for _, stale := range []string{socket, filepath.Join(dir, addressFile)} {
		if err := os.Remove(stale); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("host: %w", err)
		}
		step.At("adapter/host: a stale address is gone")
	}
	if len(socket) > maxSocketPath {
		var err error
		if elsewhere, err = shortPath(dir); err != nil {
			return nil, fmt.Errorf("host: %w", err)
		}
		if err := os.Remove(elsewhere); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("host: %w", err)
		}
		socket = elsewhere
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	step.At("adapter/host: bound")
	err = os.Chmod(socket, 0o600)
	if err == nil && elsewhere != "" {
		err = smallfile.Swap(filepath.Join(dir, addressFile), []byte(elsewhere))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("host: %w", err), l.Close())
	}
	step.At("adapter/host: listening")
	return l, nil
}

// unlist removes what names the socket elsewhere; the listener removes the socket.
func unlist(dir, socket string) {
	if filepath.Dir(socket) == dir {
		return
	}
	_ = os.Remove(filepath.Join(dir, addressFile))
	_ = os.Remove(filepath.Dir(socket))
}

// shortPath returns where the socket goes when the path of the session directory is
// too long for one: into a private directory of the system's place for temporary
// files.
func shortPath(dir string) (string, error) {
	sum := sha256.Sum256([]byte(dir))
	name := fmt.Sprintf("docket-%d-%s", os.Geteuid(), hex.EncodeToString(sum[:12]))
	for _, temp := range []string{os.TempDir(), "/tmp"} {
		private := filepath.Join(temp, name)
		socket := filepath.Join(private, socketFile)
		if len(socket) > maxSocketPath {
			continue
		}
		if err := os.Mkdir(private, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		return socket, checkPrivate(private)
	}
	return "", fmt.Errorf("the path of %s is too long for a socket, and so is that of %s: set TMPDIR to a shorter one", dir, os.TempDir())
}

// checkPrivate refuses a directory that another user made or can write to.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !ownedByUs(info) {
		return fmt.Errorf("%w: %s is not a private directory of this user: remove it", ErrPeer, dir)
	}
	return nil
}

// socketOf returns the path of the session's socket; [ErrNoHost] where none is.
func socketOf(dir string) (string, error) {
	socket := filepath.Join(dir, socketFile)
	if len(socket) <= maxSocketPath {
		if _, err := os.Lstat(socket); err == nil {
			return socket, nil
		}
	}
	text, err := smallfile.Read(filepath.Join(dir, addressFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoHost
	}
	if err != nil {
		return "", fmt.Errorf("host: %w", err)
	}
	socket = strings.TrimSpace(string(text))
	if !filepath.IsAbs(socket) || len(socket) > maxSocketPath {
		return "", fmt.Errorf("%w: %s does not name a socket: start the host again", ErrProtocol, filepath.Join(dir, addressFile))
	}
	if err := checkPrivate(filepath.Dir(socket)); errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoHost
	} else if err != nil {
		return "", err
	}
	return socket, nil
}

// connect connects to the session's broker. An error that is [ErrNoHost] proves that
// no broker listens there.
func connect(ctx context.Context, dir string) (net.Conn, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	socket, err := socketOf(dir)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, died{}
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoHost
	case err != nil:
		return nil, fmt.Errorf("host: %w", err)
	}
	return conn, nil
}

// dial connects to the session's broker and reads its welcome; errors before that are
// those of connect.
func dial(ctx context.Context, dir string) (*wire, frame, error) {
	conn, err := connect(ctx, dir)
	if err != nil {
		return nil, frame{}, err
	}
	w := newWire(conn)
	release := w.until(ctx)
	_ = conn.SetReadDeadline(time.Now().Add(answerWait()))
	f, err := w.greeted()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrSilent
	}
	_ = conn.SetReadDeadline(time.Time{})
	if !release() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		w.close()
		return nil, frame{}, fmt.Errorf("host: %w", err)
	}
	return w, f, nil
}

// greeted checks who is at the other end and what it speaks.
func (w *wire) greeted() (frame, error) {
	if err := checkPeer(w.conn); err != nil {
		return frame{}, err
	}
	f, err := w.read()
	switch {
	case err != nil:
		return frame{}, err
	case f.told() != nil:
		return frame{}, f.told()
	case f.Type != welcomeFrame:
		return frame{}, fmt.Errorf("%w: %s for a welcome", ErrProtocol, f.Type)
	case f.Version != Version || f.Replay != Replay:
		return frame{}, fmt.Errorf("%w: the host speaks %d with replay %d, this is %d with replay %d", ErrVersion, f.Version, f.Replay, Version, Replay)
	}
	return f, nil
}

// checkPeer refuses a peer that is not this user's.
func checkPeer(conn net.Conn) error {
	unix, ok := conn.(*net.UnixConn)
	if !ok {
		return ErrUnsupported
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("%w: user %d", ErrPeer, uid)
	}
	return nil
}
