package realagent_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
)

func TestMain(m *testing.M) {
	realagent.Isolate()
	os.Exit(m.Run())
}

// patience bounds a whole turn of a program that starts cold on a busy machine.
const patience = 2 * time.Minute

// TestPrograms has every installed program that takes a prompt take one.
func TestPrograms(t *testing.T) {
	for _, p := range []realagent.Program{realagent.OpenCode, realagent.Gemini, realagent.Codex, realagent.Pi} {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			model, err := fakemodel.Start(fakemodel.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = model.Close() })
			text := "say \"hello\" to " + p.Name
			cmd := realagent.New(t, p, model.URL()).Command(p.Prompt...)
			cmd.Stdin = strings.NewReader(text)
			cmd.WaitDelay = time.Second
			out := output(t, cmd)
			if !strings.Contains(out, "ACK") {
				t.Errorf("got %q, want the model's answer in it", out)
			}
			turns := model.Turns()
			if len(turns) != 1 || strings.TrimSpace(turns[0]) != text {
				t.Errorf("model: got turns %q, want the prompt once", turns)
			}
		})
	}
}

// TestACP has every installed program that speaks the protocol say what it is.
func TestACP(t *testing.T) {
	for _, p := range []realagent.Program{realagent.OpenCode, realagent.Gemini, realagent.CodexACP, realagent.ACPExample} {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			cmd := realagent.New(t, p, "http://127.0.0.1:9").Command(p.ACP...)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			lines, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(patience, func() { _ = realagent.Kill(cmd) })
			defer timer.Stop()
			_, err = in.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n"))
			if err != nil {
				t.Error(err)
			}
			var answer struct {
				Result struct{ ProtocolVersion int }
			}
			if err := json.NewDecoder(lines).Decode(&answer); err != nil || answer.Result.ProtocolVersion != 1 {
				t.Errorf("got %+v, %v, want protocol version 1", answer, err)
			}
			_ = realagent.Kill(cmd)
			_ = cmd.Wait()
		})
	}
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = realagent.Kill(cmd) })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	return out.String()
}

func TestFindNamesTheInstallation(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKET_AGENTS", dir)
	t.Setenv("PATH", "")
	if _, err := realagent.OpenCode.Find(); err == nil || !strings.Contains(err.Error(), "npm install") || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v, want the command that installs it into %s", err, dir)
	}
	if _, err := realagent.ACPExample.Find(); err == nil || !strings.Contains(err.Error(), "go install") {
		t.Errorf("got %v, want the command that installs it", err)
	}
}

func TestIsolatedHasLoopbackOnly(t *testing.T) {
	if os.Getenv("DOCKET_TEST_ISOLATED") == "" {
		t.Skip("needs a network of its own: root on Linux")
	}
	interfaces, err := net.Interfaces()
	var names []string
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 {
			names = append(names, i.Name)
		}
	}
	if err != nil || !slices.Equal(names, []string{"lo"}) {
		t.Errorf("got interfaces %q, %v, want lo alone", names, err)
	}
}
