//go:build unix

package tmux_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/tmux"
	"github.com/docket-go/docket/lock/step"
)

// insertAndDie is the test binary as a process that is killed inside Insert, at
// the step that its first argument names.
func insertAndDie(args []string) {
	at, dir, target, socket, glob := args[0], args[1], args[2], args[3], args[4]
	step.Hook(func(name string) {
		if name == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	})
	a, err := tmux.New(adapter.Session{Dir: dir}, tmux.Options{Target: target, Socket: socket, Confirm: tmux.ConfirmTranscript + glob})
	if err == nil {
		err = a.Insert(context.Background(), adapter.Prompt{MID: "m1", Text: "a message\nof two lines"})
	}
	fmt.Println("survived", err)
}

func TestWhatAKillInsideInsertLeaves(t *testing.T) {
	t.Parallel()
	const text = "a message\nof two lines"
	for _, tt := range []struct {
		at       string
		bytes    string
		presence adapter.Presence
		next     adapter.Answer // to a second Insert
	}{
		{"tmux: about to paste", "", adapter.CannotTell, adapter.Taken},
		{"tmux: pasted", strings.TrimSuffix(pasted(text), "\r"), adapter.CannotTell, adapter.Refused}, // the text stands there as a draft
		{"tmux: submitted", pasted(text), adapter.Present, adapter.Taken},                             // Lookup spares the second Insert
	} {
		t.Run(tt.at, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			p, dir := s.open(), t.TempDir()
			glob := filepath.Join(s.dir, "*.prompts")
			binary, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			child := exec.Command(binary, tt.at, dir, p.id, s.name, glob)
			child.Env = append(os.Environ(), "DOCKET_TMUX_TEST=insert")
			if out, err := child.CombinedOutput(); err == nil || len(out) > 0 {
				t.Fatalf("child: got %q, %v, want it killed", out, err)
			}
			eventually(t, "the bytes are there", func() bool { return p.bytes() == tt.bytes })
			a := p.adapter(dir, func(o *tmux.Options) { o.Confirm = tmux.ConfirmTranscript + glob })
			look := func() bool {
				got, err := a.Lookup(context.Background(), "m1")
				return err == nil && got == tt.presence
			}
			eventually(t, "lookup says "+tt.presence.String(), look)
			if tt.next == adapter.Refused {
				eventually(t, "the draft shows", func() bool { return strings.Contains(p.screen(), "of two lines") })
			}
			answered(t, insert(t, a, text), tt.next, nil, "")
		})
	}
}
