package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv("FAKEMODEL_TEST") != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestProcess starts the command, asks it once, kills it and reads its log.
func TestProcess(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	port, log := filepath.Join(t.TempDir(), "port"), filepath.Join(t.TempDir(), "log")
	cmd := exec.CommandContext(t.Context(), binary, "-log", log, "-port-file", port)
	cmd.Env = append(os.Environ(), "FAKEMODEL_TEST=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var number []byte
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 2000 {
		if number, err = os.ReadFile(port); err == nil {
			break
		}
		<-tick.C
	}
	answer, err := http.Post("http://127.0.0.1:"+strings.TrimSpace(string(number))+"/v1/responses", "", strings.NewReader(`{"input":"hello"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	got, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(got), `"text":"hello"`) || !strings.HasSuffix(string(got), "}\n") {
		t.Errorf("log: got %q, %v, want one line with the text", got, err)
	}
}

func TestRefusesOtherAddresses(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-addr", "0.0.0.0:0")
	cmd.Env = append(os.Environ(), "FAKEMODEL_TEST=1")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "loopback") {
		t.Errorf("got %q, %v, want it refused", out, err)
	}
}
