//go:build unix

package tmux_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/tmux"
)

// hasty waits as long as a busy machine may need to show a text, and no longer.
func hasty(o *tmux.Options) { o.Wait, o.TranscriptWait = time.Second, time.Second }

func TestScreenProof(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		mode  string
		want  adapter.Answer
		words string
	}{
		{"echo", adapter.Taken, ""},
		{"placeholder", adapter.Taken, ""},
		{"silent", adapter.Unconfirmed, "never seen"},              // shows nothing, although it takes the text
		{"sticky", adapter.Unconfirmed, "still on the input line"}, // Enter does not clear the line
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			p := startServer(t).open(tt.mode)
			var change []func(*tmux.Options)
			if tt.want != adapter.Taken {
				change = append(change, hasty)
			}
			answered(t, insert(t, p.adapter(t.TempDir(), change...), "two\nlines"), tt.want, nil, tt.words)
			eventually(t, "one paste and one submit", func() bool { return p.bytes() == pasted("two\nlines") && len(p.prompts()) == 1 })
		})
	}
}

func TestACatIsAHarnessToo(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := &pane{server: s, id: s.do("new-window", "-d", "-P", "-F", "#{pane_id}", "exec cat")}
	p.do("send-keys", "-t", p.id, "ready", "Enter")
	eventually(t, "cat runs", func() bool { return p.screen() == "ready\nready" })
	a := p.adapter(t.TempDir())
	want := "ready\nready\n"
	for _, text := range []string{"first", "second"} {
		if err := insert(t, a, text); err != nil {
			t.Fatal(err)
		}
		want += text + "\n" + text + "\n"
		eventually(t, "cat has each line once", func() bool { return p.screen() == strings.TrimSpace(want) })
	}
}

func TestTranscriptProof(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p, dir := s.open("silent"), t.TempDir()
	transcript := func(o *tmux.Options) {
		o.Confirm = tmux.ConfirmTranscript + filepath.Join(s.dir, "*.prompts")
		o.Wait = 100 * time.Millisecond
	}
	text := "two\nlines of \"text\" <for> größer"
	if err := insert(t, p.adapter(dir, transcript), text); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		a    adapter.Looker
		mid  string
		want adapter.Presence
	}{
		{"the last one", p.adapter(dir, transcript), "m1", adapter.Present},
		{"another one", p.adapter(dir, transcript), "m2", adapter.CannotTell},
		{"another session", p.adapter(t.TempDir(), transcript), "m1", adapter.CannotTell},
		{"another proof", p.adapter(dir), "m1", adapter.CannotTell},
	} {
		if got, err := tt.a.Lookup(context.Background(), tt.mid); err != nil || got != tt.want {
			t.Errorf("lookup of %s: got %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

func TestAnOldTranscriptProvesNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p, dir := s.open("deaf"), t.TempDir() // it clears its line and forgets
	if err := os.WriteFile(filepath.Join(s.dir, "old.jsonl"), []byte(`{"content":"a sentence of some length"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := p.adapter(dir, hasty, func(o *tmux.Options) { o.Confirm = tmux.ConfirmTranscript + filepath.Join(s.dir, "*.jsonl") })
	answered(t, insert(t, a, "a sentence of some length"), adapter.Unconfirmed, nil, "no transcript")
	if got, err := a.Lookup(context.Background(), "m1"); err != nil || got != adapter.CannotTell {
		t.Errorf("lookup: got %v, %v, want cannot tell", got, err)
	}
	eventually(t, "it was submitted", func() bool { return p.bytes() == pasted("a sentence of some length") })
}

func TestHookProofIsNeverGivenByTheAdapter(t *testing.T) {
	t.Parallel()
	p := startServer(t).open()
	a := p.adapter(t.TempDir(), func(o *tmux.Options) { o.Confirm = tmux.ConfirmHook })
	answered(t, insert(t, a, "hello"), adapter.Unconfirmed, nil, "docket confirm")
	eventually(t, "one submit", func() bool { return p.bytes() == pasted("hello") })
}

func TestLongAndMisleadingTextsGoIntoAFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("a long text\r\n", 2000),
		"what it showed:\n❯ 1. Yes\n  2. No", // behind a tag it would still be a dialog
	} {
		p, dir := startServer(t).open(), t.TempDir()
		a := p.adapter(dir)
		answered(t, insert(t, p.adapter(dir, func(o *tmux.Options) { o.RefuseLong = true }), text), adapter.Refused, tmux.ErrText, "send a shorter one")
		answered(t, insert(t, p.adapter(""), text), adapter.Refused, tmux.ErrText, "")
		p.untouched()
		if err := insert(t, a, text); err != nil {
			t.Fatal(err)
		}
		if got, want := p.bytes(), pasted(a.Sanitise(text)); got != want {
			t.Errorf("bytes: got %q, want %q", got, want)
		}
		files, err := filepath.Glob(filepath.Join(dir, "tmux-text-*.txt"))
		if err != nil || len(files) != 1 || !strings.Contains(p.bytes(), files[0]) {
			t.Fatalf("files: got %q, %v, want the one that %q names", files, err, p.bytes())
		}
		info, err := os.Stat(files[0])
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("file: got %v, %v, want mode 0600", info, err)
		}
		if b, err := os.ReadFile(files[0]); err != nil || string(b) != text {
			t.Errorf("file: got %q, %v, want the text as it was sent", b, err)
		}
	}
}

func TestTypeWhileBusy(t *testing.T) {
	t.Parallel()
	p := startServer(t).open("busy")
	if err := insert(t, p.adapter(t.TempDir(), func(o *tmux.Options) { o.TypeWhileBusy = true }), "hello"); err != nil {
		t.Fatal(err)
	}
	if got, want := p.bytes(), pasted("hello"); got != want {
		t.Errorf("bytes: got %q, want %q", got, want)
	}
}

func TestInterruptPressesOneKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"": "\x1b", "C-c": "\x03"} {
		p := startServer(t).open("busy")
		a := p.adapter(t.TempDir(), func(o *tmux.Options) { o.Interrupt = key })
		if err := a.Interrupt(context.Background()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the key arrives", func() bool { return p.bytes() == want })
	}
}
