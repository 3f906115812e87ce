package acp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

func TestAHumanDecides(t *testing.T) {
	f, a := open(t, whole, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	f.ask(`"x-1"`)
	id := permission(t, s)
	hosttest.Equal(t, "emissions", s.All(), []string{`permission "Change settings" asked [{yes allow once true} {no reject once false}]`})
	const details = "kind: edit\nrawInput: {\"content\":\"PLANTED\"}\ntitle: Change settings"
	if got := a.Details(id); got != details {
		t.Errorf("got %q, want %q", got, details)
	}
	for _, wrong := range [][2]string{{id, "maybe"}, {id, ""}, {"other", "yes"}, {"", "yes"}} {
		if err := a.Decide(context.Background(), wrong[0], wrong[1]); !errors.Is(err, host.ErrNoPermission) {
			t.Errorf("%q: got %v, want ErrNoPermission", wrong, err)
		}
	}
	if err := a.Decide(context.Background(), id, "yes"); err != nil {
		t.Error(err)
	}
	answer := f.Expect("")
	if string(answer.ID) != `"x-1"` || string(answer.Result) != `{"outcome":{"optionId":"yes","outcome":"selected"}}` {
		t.Errorf("got %s to %s, want the option", answer.Result, answer.ID)
	}
	if err := a.Decide(context.Background(), id, "no"); !errors.Is(err, host.ErrNoPermission) {
		t.Errorf("a second time: got %v, want ErrNoPermission", err)
	}
	if got := a.Details(id); got != "" {
		t.Errorf("got %q of what is answered, want nothing", got)
	}
	f.stop(prompt, "end_turn")
	s.End(t)
}

// TestNobodyDecides ends a turn while a human is asked.
func TestNobodyDecides(t *testing.T) {
	f, a := open(t, whole, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	f.ask("4")
	id := permission(t, s)
	f.stop(prompt, "end_turn")
	s.End(t)
	if got := f.outcome(); got != "cancelled" {
		t.Errorf("got %q, want cancelled", got)
	}
	if err := a.Decide(context.Background(), id, "yes"); !errors.Is(err, host.ErrNoPermission) {
		t.Errorf("got %v, want ErrNoPermission", err)
	}
	if asked := a.Asked(); len(asked) > 0 {
		t.Errorf("got %v, want nothing that is asked for", asked)
	}
}

func TestAPolicyDecides(t *testing.T) {
	decision := make(chan func(context.Context, acp.Request) string, 1)
	f, a := open(t, acp.Options{PieceDelay: -1, Policy: func(ctx context.Context, r acp.Request) string {
		return (<-decision)(ctx, r)
	}}, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	for _, choice := range []string{"yes", "no"} {
		decision <- func(_ context.Context, r acp.Request) string {
			if err := a.Decide(context.Background(), r.ID, "yes"); !errors.Is(err, host.ErrNoPermission) {
				t.Errorf("got %v, want ErrNoPermission: no human is asked", err)
			}
			if r.Class != "edit" || r.Title != "Change settings" || !strings.Contains(string(r.Params), "PLANTED") {
				t.Errorf("got %+v, want the request", r)
			}
			return choice
		}
		f.ask("1")
		if got := f.outcome(); got != "selected "+choice {
			t.Errorf("got %q, want %q", got, choice)
		}
	}
	hosttest.Equal(t, "emissions", s.All(), []string{"info permission_granted Change settings", "info permission_denied Change settings"})
	for _, abstain := range []func(context.Context, acp.Request) string{
		func(context.Context, acp.Request) string { return "" },
		func(context.Context, acp.Request) string { return "whatever" },
		func(context.Context, acp.Request) string { panic("policy") },
	} {
		decision <- abstain
		before := len(s.All())
		f.ask("2")
		s.Await(t, func(values []host.Value) bool { return len(values) > before })
		if err := a.Decide(context.Background(), permission(t, s), "no"); err != nil {
			t.Error(err)
		}
		if got := f.outcome(); got != "selected no" {
			t.Errorf("got %q, want what the human said", got)
		}
	}
	asked, late := make(chan struct{}), make(chan struct{})
	decision <- func(ctx context.Context, _ acp.Request) string {
		close(asked)
		<-ctx.Done()
		defer close(late)
		return "yes"
	}
	f.ask("3")
	hosttest.Receive(t, "the policy's call", asked)
	if err := a.Interrupt(context.Background()); err != nil {
		t.Error(err)
	}
	f.Expect("session/cancel")
	if got := f.outcome(); got != "cancelled" {
		t.Errorf("interrupted: got %q, want cancelled", got)
	}
	hosttest.Receive(t, "the policy's late answer", late)
	f.stop(prompt, "cancelled")
	s.End(t)
}

func TestWhatCannotBeAsked(t *testing.T) {
	f, a := open(t, whole, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	for _, params := range []string{
		`{"sessionId":"s-2","toolCall":{"toolCallId":"c"},"options":[{"optionId":"yes","kind":"allow_once"}]}`,
		`{"sessionId":"s-1","toolCall":{"toolCallId":"c"},"options":[]}`,
		`{"sessionId":"s-1","toolCall":{"toolCallId":"c"},"options":[{"optionId":"","kind":"allow_once"}]}`,
		`{"sessionId":"s-1","toolCall":{"toolCallId":"c"}}`,
	} {
		f.Say(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":` + params + `}`)
		if got := f.outcome(); got != "cancelled" {
			t.Errorf("%s: got %q, want cancelled", params, got)
		}
	}
	f.Say(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":[]}`)
	if got := f.Expect(""); got.Error == nil || got.Error.Code != -32602 {
		t.Errorf("got %+v, want an error", got)
	}
	for range 100 { // more than may wait
		f.ask("6")
	}
	for range 100 - 64 {
		if got := f.outcome(); got != "cancelled" {
			t.Errorf("got %q, want cancelled", got)
		}
	}
	if got := len(a.Asked()); got != 64 {
		t.Errorf("got %d that are asked for, want 64", got)
	}
	f.stop(prompt, "end_turn")
	s.End(t)
}

// TestNothingIsOffered asks for what a client may have and docket has not.
func TestNothingIsOffered(t *testing.T) {
	f, _ := open(t, whole, nil)
	for _, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "_own/thing", "session/prompt"} {
		f.Say(`{"jsonrpc":"2.0","id":"a","method":"` + method + `","params":{"sessionId":"s-1"}}`)
		if got := f.Expect(""); got.Error == nil || got.Error.Code != -32601 || string(got.ID) != `"a"` {
			t.Errorf("%s: got %+v, want method not found", method, got)
		}
	}
}
