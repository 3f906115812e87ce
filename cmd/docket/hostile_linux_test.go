package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/docket-go/docket/timeline"
)

// controls is a text with everything in it that acts on a terminal.
func controls() string {
	var b strings.Builder
	for r := rune(1); r < 0xa0; r++ {
		b.WriteRune(r)
	}
	b.WriteString("\x1b]0;title\x07 \x1b[201~ paste \x1bP+q\x1b\\ \u009b31m \u202eabc\u2066\u2069\u200e\u061c \u2028\u2029 \u200b\u2060\ufeff\u00ad\u3164\U000e0001\U000e0041\U000e007f\ufe0f\u200d end")
	return b.String()
}

// No text, note, title, setting, id or agent's answer acts on the terminal of somebody
// who reads about it, whether docket knows that it writes to a terminal or not.
func TestNothingActsOnTheTerminal(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	text := controls()
	b.must("new", "w", "--title", text, "--adapter", "exec", "--set", "headless=false", "--set", "cmd=printf '\\033[31m\\033]0;x\\007' >&2; exit 1 # "+text)
	mid := strings.TrimSpace(b.run(text, "docket", "--store", b.store(), "send", "w", "-", "--attr", "\x1b[2J=\x1b[31m").out)
	b.run(text, "docket", "--store", b.store(), "ask", "w", "--note", "-")
	for _, args := range [][]string{
		{"log", "w"}, {"pending", "w"}, {"pending", "--all"}, {"state", "w", mid}, {"show", "w"}, {"ls"}, {"verify", "w"}, {"drain", "w"},
		{"wait", "w", "--for", "asking", "--timeout", "1ms"}, {"repair", "w"}, {"revoke", "w", mid, mid},
		{"send", "w\x1b[31m", "x"}, {"state", "w", "\x1b[31m\u202e"}, {"log", "w", "--after", "\u009b31m"}, {"log", "w", "--\x1b[31m"},
		{"\x1b[31m"}, {"new", "x", "--adapter", "\x1b[31m"}, {"new", "x", "--adapter", "exec", "--set", "\x1b[31m=x"}, {"declare", "w", "--status", "\x1b[31m"},
		{"--store", "/nowhere\x1b[31m/\u202e", "send", "w", "x"}, {"send", "w", "x", "--reply-via", "\x1b[31m"}, {"archive", "w"}, {"close", "w"},
		{"log", "w", "--json"}, {"pending", "w", "--json"}, {"state", "w", mid, "--json"}, {"show", "w", "--json"}, {"ls", "--json"}, {"drain", "w", "--json"},
	} {
		argv := append([]string{"docket", "--store", b.store()}, args...)
		again := b.copy()
		argv[2] = again.store()
		a := again.run("", argv...)
		if acting := raw(a.out + a.err); acting != "" {
			t.Errorf("%q prints %q", args, acting)
		}
		again = b.copy()
		argv[2] = again.store()
		if acting := raw(strings.ReplaceAll(again.onTerminal(argv), "\r\n", "\n")); acting != "" {
			t.Errorf("%q prints %q on a terminal", args, acting)
		}
	}
}

// In JSON nothing is lost by that, whoever wrote the line or the record.
func TestJSONKeepsTheText(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	text := controls()
	b.must("new", "w", "--title", text)
	b.run(text, "docket", "--store", b.store(), "send", "w", "-", "--no-drain", "--attr", text+"="+text)
	foreign, err := json.Marshal(map[string]string{"kind": "sent", "ts": "2026-01-02T03:04:05.678Z", "mid": "m1", "text": "", "x" + text: text})
	if err != nil {
		t.Fatal(err)
	}
	b.addRaw(strings.NewReplacer(`:"`, ":\r\"", `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(foreign)) + "\n")
	record, err := os.ReadFile(b.path("w", "session.json"))
	if err == nil {
		err = os.WriteFile(b.path("w", "session.json"), []byte(strings.Replace(string(record), "{", "{\r\"\u202e\u200b\": \"\x7f\u009b\",", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, fields []string }{
		{[]string{"log", "w"}, []string{"text", "x" + text}},
		{[]string{"pending", "w"}, []string{"text"}},
		{[]string{"show", "w"}, []string{"title"}},
		{[]string{"ls"}, []string{"title"}},
	} {
		said := b.must(append(tt.args, "--json")...)
		if acting := raw(said); acting != "" {
			t.Errorf("%v prints %q", tt.args, acting)
		}
		got := map[string]any{}
		for line := range strings.Lines(said) {
			for name, value := range objectOf(t, line) {
				if value != "" {
					got[name] = value
				}
			}
		}
		for _, name := range tt.fields {
			if got[name] != text {
				t.Errorf("%v: got %q in %q, want %q", tt.args, got[name], name, text)
			}
		}
		if of, ok := got["\u202e\u200b"]; tt.args[0] != "log" && tt.args[0] != "pending" && (!ok || of != "\x7f\u009b") {
			t.Errorf("%v: got %q in a field of another writer", tt.args, of)
		}
	}
}

func objectOf(t *testing.T, line string) (object map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &object); err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	return object
}

// onTerminal runs a program on a terminal of its own and returns what it wrote there.
func (b box) onTerminal(argv []string) string {
	b.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		b.t.Skipf("no terminals here: %v", err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		b.t.Skipf("no terminals here: %v", err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = b.dir, append(b.env, "TERM=xterm-256color"), terminal, terminal, terminal
	err = cmd.Start()
	terminal.Close()
	if err != nil {
		b.t.Fatal(err)
	}
	killer := time.AfterFunc(hanging, func() { cmd.Process.Kill() })
	defer killer.Stop()
	said, _ := io.ReadAll(master) // ends with an error when the other side is closed
	cmd.Wait()
	if cmd.ProcessState.ExitCode() < 0 || len(said) == 0 {
		b.t.Errorf("%q: %v, and it said %q", argv, cmd.ProcessState, said)
	}
	return string(said)
}

// within runs docket with so much memory for data that it asks the system for, which
// it does in steps of 64 MiB. One that needs more breaks down.
func (b box) within(mebibytes int, stdin string, args ...string) answer {
	b.t.Helper()
	if raceDetector {
		b.t.Skip("the race detector needs memory of its own")
	}
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		b.t.Skip("needs prlimit")
	}
	return b.run(stdin, append([]string{prlimit, fmt.Sprintf("--data=%d", mebibytes<<20), "docket", "--store", b.store()}, args...)...)
}

// The largest text, and a line that no docket writes, cost a bounded number of copies,
// and what does not show them costs nothing of the kind.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.must("new", "w")
	text := strings.Repeat("a", timeline.DefaultMaxTextBytes)
	for _, tt := range []struct {
		what      string
		status    int
		mebibytes int
		stdin     string
		args      []string
	}{
		{"the largest text", statusDone, 384, text, []string{"send", "w", "-", "--no-drain"}},
		{"a byte more", statusRefused, 384, text + "a", []string{"send", "w", "-", "--no-drain"}},
		{"much more", statusRefused, 384, strings.Repeat(text, 30), []string{"send", "w", "-", "--no-drain"}},
		{"the log with it", statusDone, 384, "", []string{"log", "w", "--json"}},
		{"the queue with it", statusDone, 384, "", []string{"pending", "w"}},
		{"its delivery", statusDone, 384, "", []string{"drain", "w", "--adapter", "file", "--set", "path=inbox"}},
		{"a line of 64 MiB", statusDone, 1024, "", []string{"verify", "w"}},
		{"a message behind it", statusDone, 1024, "", []string{"send", "w", "next", "--no-drain"}},
		{"that message only", statusDone, 256, "", []string{"log", "w", "--limit", "1"}},
	} {
		if strings.HasPrefix(tt.what, "a line") {
			b.addLine(64 << 20)
		}
		if a := b.within(tt.mebibytes, tt.stdin, tt.args...); a.status != tt.status {
			t.Errorf("%s: got status %d, want %d: %.300s", tt.what, a.status, tt.status, a.err)
		}
	}
}

// addLine appends a line of another writer, with a text of that size, to the log of w.
func (b box) addLine(size int) {
	b.t.Helper()
	b.addRaw(`{"ts":"2026-01-02T03:04:05.678Z","kind":"sent","mid":"m1","text":"` + strings.Repeat("x", size) + "\",\"from\":null}\n")
}

// addRaw appends what another writer might to the log of w.
func (b box) addRaw(lines string) {
	b.t.Helper()
	segments, err := filepath.Glob(b.path("w", "timeline", "*.ndjson"))
	if err != nil || len(segments) == 0 {
		b.t.Fatal("no segment: ", err)
	}
	f, err := os.OpenFile(slices.Max(segments), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(lines); err != nil {
		b.t.Fatal(err)
	}
}

// Deep and huge JSON is damage like any other: named, in bounded memory.
func TestDeepJSON(t *testing.T) {
	t.Parallel()
	base := newBox(t)
	base.must("new", "w")
	base.must("send", "w", "one", "--no-drain")
	record, err := os.ReadFile(base.path("w", "session.json"))
	if err != nil {
		t.Fatal(err)
	}
	open := strings.TrimRight(string(record), "}\n")
	for _, tt := range []struct{ name, file, content string }{
		{"deep list", "pending.json", strings.Repeat("[", 2_000_000)},
		{"deep object", "pending.json", `[{"mid":"x","text":"t","y":` + strings.Repeat(`{"a":`, 500_000) + "1" + strings.Repeat("}", 500_000) + "}]"},
		{"deep field", "session.json", open + `,"more":` + strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000) + "}"},
		{"deep record", "session.json", strings.Repeat(`{"a":`, 500_000)},
		{"huge record", "session.json", open + `,"more":"` + strings.Repeat("x", 40<<20) + `"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := base.fork(t)
			if err := os.WriteFile(b.path("w", tt.file), []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"send", "w", "next", "--no-drain"}, {"verify", "w"}, {"ls"}} {
				a := b.within(512, "", args...)
				if a.status != statusCorrupt || !strings.Contains(a.out+a.err, tt.file) {
					t.Errorf("%v: got status %d, %.200q and %.200q, want %d and the file named", args, a.status, a.out, a.err, statusCorrupt)
				}
			}
		})
	}
}

// A directory that somebody else owns, or that everybody may write to, is refused.
func TestForeignDirectories(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	base, mid := plantable(t)
	for _, tt := range []struct {
		name, says string
		spoil      func(dir string) error
	}{
		{"of another user", "belongs to another user", func(dir string) error { return os.Chown(dir, 12345, -1) }},
		{"open to everybody", "everyone may write to it", func(dir string) error { return os.Chmod(dir, 0o777) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := base.fork(t)
			if err := tt.spoil(b.path("w")); err != nil {
				t.Fatal(err)
			}
			before := picture(t, b.path("w"))
			for _, args := range everyVerb(mid) {
				if args[0] == "send" && args[1] == "lead" || args[0] == "new" || args[0] == "ls" {
					continue
				}
				if a := b.docket(args...); a.status != statusFailed || !strings.Contains(a.err, tt.says) {
					t.Errorf("%v: got status %d and %q, want %d and %q", args, a.status, a.err, statusFailed, tt.says)
				}
			}
			outside{t, b.path("w"), before}.untouched(tt.name)
		})
	}
}

// A store of very many sessions is listed, drained and served; memory does not grow
// with their number as long as nothing is owed. A plain run makes fewer of them.
func TestManySessions(t *testing.T) {
	t.Parallel()
	sessions := 2_000
	if *sweepAll == "full" {
		sessions = 20_000
	}
	b := newBox(t)
	b.must("new", "w")
	record, err := os.ReadFile(b.path("w", "session.json"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range sessions {
		id := fmt.Sprintf("n%05d", n)
		if err := os.Mkdir(b.path(id), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(b.path(id, "session.json"), []byte(strings.Replace(string(record), `"w"`, `"`+id+`"`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	inbox := filepath.Join(b.dir, "inbox")
	b.must("new", "z", "--adapter", "file", "--set", "path="+inbox)
	b.must("send", "z", "one", "--no-drain")
	listed := b.within(256, "", "ls")
	if n := strings.Count(listed.out, "\n"); listed.status != statusDone || n != sessions+2 {
		t.Errorf("ls: got status %d and %d lines, want %d and %d", listed.status, n, statusDone, sessions+2)
	}
	drained := b.within(256, "", "drain", "--all")
	if drained.status != statusDone || drained.out != "z: 1 delivered, 0 owed\n" {
		t.Errorf("drain --all: got status %d and %q", drained.status, drained.out)
	}
	b.must("send", "z", "two", "--no-drain")
	b.serveUntil(func() bool {
		got, err := os.ReadFile(inbox)
		return err == nil && strings.Count(string(got), "\n") == 2
	})
}

// serveUntil runs docket serve until something is so, and asks it to end.
func (b box) serveUntil(done func() bool) {
	b.t.Helper()
	cmd := exec.Command("docket", "--store", b.store(), "serve")
	cmd.Env = b.env
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	deadline, tick := time.After(hanging), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline:
			b.t.Error("serve has not delivered what was owed")
			cmd.Process.Kill()
		}
		if b.t.Failed() {
			break
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	killer := time.AfterFunc(hanging, func() { cmd.Process.Kill() })
	defer killer.Stop()
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != statusDone {
		b.t.Errorf("serve: %v", cmd.ProcessState)
	}
}
