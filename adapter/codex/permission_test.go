package codex_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// TestDecisions are those of Decide, and nothing else grants anything.
func TestDecisions(t *testing.T) {
	f, a := open(t, whole, nil)
	s := taken(t, f, a, "m1")
	asked := 0
	for _, tt := range []struct{ kind, choice, want string }{
		{"commandExecution", "accept", "accept"},
		{"commandExecution", "decline", "decline"},
		{"fileChange", "acceptForSession", "acceptForSession"},
		{"permissions", "accept", `{"permissions":{"network":{"enabled":true}},"scope":"turn"}`},
		{"permissions", "decline", `{"permissions":{},"scope":"turn"}`},
	} {
		f.ask(fmt.Sprint(asked), tt.kind)
		asked++
		p := s.Permission(t, asked)
		if got := a.Details(p.ID); !strings.Contains(got, "PLANTED") || strings.Contains(got, "threadId") {
			t.Errorf("%s: got the details %q, want all of it but ids", tt.kind, got)
		}
		for _, wrong := range []string{"", "cancel", "acceptWithExecpolicyAmendment", "yes"} {
			if err := a.Decide(t.Context(), p.ID, wrong); !errors.Is(err, host.ErrNoPermission) {
				t.Errorf("%s %q: got %v, want ErrNoPermission", tt.kind, wrong, err)
			}
		}
		if err := a.Decide(t.Context(), p.ID, tt.choice); err != nil {
			t.Errorf("%s %s: %v", tt.kind, tt.choice, err)
		}
		if got := f.decision(); got != tt.want {
			t.Errorf("%s %s: got the answer %s, want %s", tt.kind, tt.choice, got, tt.want)
		}
		if err := a.Decide(t.Context(), p.ID, tt.choice); !errors.Is(err, host.ErrNoPermission) {
			t.Errorf("%s a second time: got %v, want ErrNoPermission", tt.kind, err)
		}
		if got := a.Details(p.ID); got != "" {
			t.Errorf("%s: got %q of what is answered, want nothing", tt.kind, got)
		}
	}
	hosttest.Equal(t, "emissions", s.All(), []string{
		`permission "curl" asked [{accept allow once true} {decline reject once false}]`,
		`permission "curl" asked [{accept allow once true} {decline reject once false}]`,
		`permission "change of files" asked [{accept allow once true} {acceptForSession allow for the session true} {decline reject once false}]`,
		`permission "more permissions" asked [{accept allow once true} {decline reject once false}]`,
		`permission "more permissions" asked [{accept allow once true} {decline reject once false}]`,
	})
}

// TestUndecided is cancelled when the turn is interrupted or ends.
func TestUndecided(t *testing.T) {
	f, a := open(t, whole, nil)
	s := taken(t, f, a, "m1")
	f.ask("1", "commandExecution")
	p := s.Permission(t, 1)
	if err := a.Interrupt(t.Context()); err != nil {
		t.Error(err)
	}
	if got := f.decision(); got != "cancel" {
		t.Errorf("interrupted: got %s, want cancel", got)
	}
	f.answer(f.Expect("turn/interrupt"), `{}`)
	if err := a.Decide(t.Context(), p.ID, "accept"); !errors.Is(err, host.ErrNoPermission) {
		t.Errorf("after it: got %v, want ErrNoPermission", err)
	}
	f.ask("2", "fileChange")
	if got := f.decision(); got != "decline" {
		t.Errorf("asked after it: got %s, want decline", got)
	}
	f.complete("interrupted")
	s.End(t)
	f.ask("3", "commandExecution")
	if got := f.decision(); got != "decline" {
		t.Errorf("asked without a turn: got %s, want decline", got)
	}
	s = taken(t, f, a, "m2")
	f.ask("4", "commandExecution")
	f.complete("completed")
	if got := f.decision(); got != "cancel" {
		t.Errorf("the turn ended: got %s, want cancel", got)
	}
	s.End(t)
}

// TestNotAskedOfAHuman is what grants nothing or belongs to nobody.
func TestNotAskedOfAHuman(t *testing.T) {
	f, a := open(t, whole, nil)
	s := taken(t, f, a, "m1")
	for _, tt := range []struct{ method, params, want string }{
		{"item/tool/requestUserInput", `{"threadId":"t-1","turnId":"u-1"}`, "error -32601"},
		{"item/commandExecution/requestApproval", `7`, "error -32602"},
		{"item/commandExecution/requestApproval", `{"threadId":"t-2","turnId":"u-1"}`, "decline"},
		{"item/commandExecution/requestApproval", `{"threadId":"t-1","turnId":"u-2"}`, "decline"},
		{"item/permissions/requestApproval", `{"threadId":"t-1","turnId":"u-2","permissions":{"network":1}}`, `{"permissions":{},"scope":"turn"}`},
		{"mcpServer/elicitation/request", `{"threadId":"t-1"}`, `{"_meta":null,"action":"decline","content":null}`},
		{"execCommandApproval", `{}`, "error -32601"},
		{"account/chatgptAuthTokens/refresh", `{}`, "error -32601"},
	} {
		f.say(`{"id":"x","method":%q,"params":%s}`, tt.method, tt.params)
		if got := f.decision(); got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.method, tt.params, got, tt.want)
		}
	}
	for i := range 65 { // one more than may wait
		f.ask(fmt.Sprint(i), "commandExecution")
	}
	if got := f.decision(); got != "decline" {
		t.Errorf("got %s, want decline", got)
	}
	p := s.Permission(t, 64)
	f.note("serverRequest/resolved", `,"requestId":63`)
	f.ask("99", "commandExecution")
	s.Permission(t, 65)
	if err := a.Decide(t.Context(), p.ID, "accept"); !errors.Is(err, host.ErrNoPermission) {
		t.Errorf("a request that codex resolved: got %v, want ErrNoPermission", err)
	}
}
