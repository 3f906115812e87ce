package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

// Errors are one line of the form that scripts and people expect.
func TestReportLine(t *testing.T) {
	for _, tt := range []struct {
		name, subject string
		err           error
		want          string
	}{
		{"what to do instead", "s1", fmt.Errorf("send to session s1: %w", session.ErrNotFound),
			"docket: send s1: no such session: make it with docket new s1, or see docket ls"},
		{"its own words, once", "s1", fmt.Errorf("session s1: %w: take a new key", dispatch.ErrKeyReused),
			"docket: send s1: the key was used for another message: take a new key"},
		{"several errors on one line", "s1", errors.Join(errors.New("one"), errors.New("two.")),
			"docket: send s1: one; two"},
		{"nothing acts on the terminal", "\x1b[2J", errors.New("cause \x07"),
			`docket: send \x1b[2J: cause \a`},
		{"no session yet", "", usagef("no verb"), "docket: send: no verb"},
		{"somebody takes a text for a session", strings.Repeat("x", 300), errors.New("cause"),
			"docket: send " + strings.Repeat("x", 140) + "...: cause"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			r := reporter{w: &b, verb: "send"}
			r.complain(tt.subject, tt.err)
			if got := b.String(); got != tt.want+"\n" {
				t.Errorf("got  %q\nwant %q", got, tt.want+"\n")
			}
		})
	}
}

func TestAge(t *testing.T) {
	for _, tt := range []struct {
		age  time.Duration
		want string
	}{
		{-time.Hour, "0s"}, // a clock that was set back
		{400 * time.Millisecond, "0s"},
		{59 * time.Second, "59s"},
		{90 * time.Second, "1m"},
		{25*time.Hour + 3*time.Minute, "25h03m"},
		{72 * time.Hour, "3 days"},
	} {
		if got := age(tt.age); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.age, got, tt.want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for arg, want := range map[string]string{
		"plain-1.0/x=y": "plain-1.0/x=y", "": "''", "two words": "'two words'", "it's $5": `'it'\''s $5'`,
	} {
		if got := shellQuote(arg); got != want {
			t.Errorf("%q: got %s, want %s", arg, got, want)
		}
	}
}

// A full pipe, or a disk, is found out even if the verb does not look.
func TestOutputKeepsTheFirstError(t *testing.T) {
	o := newOutput(broken{})
	o.people("%s\n", strings.Repeat("x", 10000))
	o.people("more\n")
	if err := o.flush(); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// A verb that waits for standard input ends when it is interrupted.
func TestInterruptedInput(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	stdin, _ := io.Pipe()
	var out, complaint bytes.Buffer
	status := run(ctx, t.Context(), []string{"--store", t.TempDir(), "send", "s1"}, stdin, &out, &complaint)
	if status != statusFailed || out.Len() > 0 || !strings.Contains(complaint.String(), "interrupted before the message was accepted") {
		t.Errorf("got status %d, output %q and %q, want status %d and a word about the interruption", status, &out, &complaint, statusFailed)
	}
}

// Whoever was looking at what is asked has answered nothing; whoever was answering sees
// whether it is asked still.
func TestInterruptedPermit(t *testing.T) {
	store := t.TempDir()
	do := func(ctx context.Context, args ...string) (complaint string) {
		var out, said bytes.Buffer
		run(ctx, t.Context(), append(args, "--store", store), strings.NewReader(""), &out, &said)
		return said.String()
	}
	do(t.Context(), "new", "s1", "--adapter", "acp")
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{{"permit", "s1"}, {"permit", "s1", "93a1c07f", "allow once"}} {
		want := "docket: permit s1: interrupted: see docket permit s1 for what is still asked\n"
		if got := do(ctx, args...); got != want {
			t.Errorf("docket %q: got %q, want %q", args, got, want)
		}
	}
}
