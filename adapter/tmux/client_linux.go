package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// seeBrackets finds out whether the program in the pane of snap has asked for
// bracketed paste, for servers that have no format for it (before tmux 3.6). Up
// to 3.3, what a program asks for is what tmux asks of the terminals that show
// it, so a client of our own, on a terminal of our own, is shown the pane for an
// instant. It has a session of its own that shares the windows, takes no keys,
// has the size of the window and leaves the user's view alone. Later servers ask
// every terminal for it, which shows in the first request; then the answer is
// unknown, as it is after any error.
func (s server) seeBrackets(ctx context.Context, snap snapshot) truth {
	ctx, cancel := context.WithTimeout(ctx, s.bound)
	defer cancel()
	terminal, other, err := openTerminal(snap.width, snap.height)
	if err != nil {
		return unknown
	}
	defer terminal.Close()
	name := fmt.Sprintf("%s%d-%s", lookPrefix, os.Getpid(), strings.ToLower(rand.Text()))
	session, err := s.sessionOf(ctx, snap.identity.Pane)
	client := s.client(ctx, name, session, snap, other)
	if err == nil {
		err = client.Start()
	}
	_ = other.Close()
	if err != nil {
		return unknown
	}
	shown := s.watch(ctx, terminal, name)
	endClient(ctx, s, client, name)
	return bracketsIn(shown)
}

// lookPrefix begins the names of the sessions that are made for a look.
const lookPrefix = "docket-look-"

// sessionOf returns a session that shows pane and is not made for another look,
// which may end at any moment.
func (s server) sessionOf(ctx context.Context, pane string) (string, error) {
	out, err := s.run(ctx, "", "list-panes", "-a", "-F", "#{pane_id} #{session_id} #{session_name}")
	if err != nil {
		return "", err
	}
	for row := range strings.Lines(out) {
		f := strings.SplitN(row, " ", 3)
		if len(f) == 3 && f[0] == pane && !strings.HasPrefix(f[2], lookPrefix) {
			return f[1], nil
		}
	}
	return "", errors.New("no session shows the pane")
}

// client prepares the tmux client that is shown the pane. Its session vanishes
// with it, also when this process is killed.
func (s server) client(ctx context.Context, name, session string, snap snapshot, terminal *os.File) *exec.Cmd {
	cmd := s.command(ctx,
		"new-session", "-d", "-s", name, "-t", session, ";",
		"set-option", "-t", name, "status", "off", ";",
		"set-option", "-t", name, "set-titles", "on", ";",
		"set-option", "-t", name, "set-titles-string", name, ";",
		"attach-session", "-r", "-f", "ignore-size,active-pane,read-only", "-t", name+":"+snap.window, ";",
		"set-option", "-t", name, "destroy-unattached", "on", ";",
		"select-pane", "-t", snap.identity.Pane)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "TMUX=") && !strings.HasPrefix(e, "TERM=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return cmd
}

// watch returns what the client shows up to the pane's first picture. The title,
// which the server writes behind the modes of that picture, marks its end.
func (s server) watch(ctx context.Context, terminal *os.File, title string) []byte {
	if deadline, ok := ctx.Deadline(); ok {
		_ = terminal.SetReadDeadline(deadline)
	}
	stop := context.AfterFunc(ctx, func() { _ = terminal.SetReadDeadline(time.Unix(0, 1)) })
	defer stop()
	var shown []byte
	part := make([]byte, 32<<10)
	for !bytes.Contains(shown, []byte(title)) {
		n, err := terminal.Read(part)
		shown = append(shown, part[:n]...)
		if err != nil {
			return nil
		}
	}
	if _, err := s.run(ctx, "", "display-message", "-p", ""); err != nil {
		return nil
	}
	_ = terminal.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) // what the server wrote before that answer is here already
	for {
		n, err := terminal.Read(part)
		shown = append(shown, part[:n]...)
		if err != nil {
			return shown
		}
	}
}

// endClient ends the client and its session, and leaves nothing behind.
func endClient(ctx context.Context, s server, client *exec.Cmd, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := s.run(ctx, "", "kill-session", "-t", "="+name); err != nil {
		_ = client.Cancel()
	}
	_ = client.Wait()
}

// bracketsIn reads the requests for bracketed paste, on (h) and off (l). The
// first one comes when a terminal is set up.
func bracketsIn(shown []byte) truth {
	const request = "\x1b[?2004"
	answer := unknown
	for first := true; ; first = false {
		_, rest, ok := bytes.Cut(shown, []byte(request))
		if !ok || len(rest) == 0 {
			return answer
		}
		on := rest[0] == 'h'
		if first && on {
			return unknown
		}
		answer, shown = no, rest
		if on {
			answer = yes
		}
	}
}

// openTerminal makes a pseudo-terminal of that size: our end and the client's.
func openTerminal(columns, rows int) (ours, theirs *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	ours = os.NewFile(uintptr(fd), "/dev/ptmx")
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = errors.Join(unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)}))
	}
	if err == nil {
		theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = ours.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}
