package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/docket-go/docket/adapter/adaptertest/realagent"
)

// The programs of the scripts: docket itself, and what they need beside it. The tests
// have no network, as real agents take part.
func TestMain(m *testing.M) {
	programs := map[string]func(){
		"docket":  main,
		"repeat":  repeat,
		"bytes":   printBytes,
		"capture": capture,
		"island":  island,
		"get":     get,

		"acp-agent": acpAgent,
	}
	if programs[filepath.Base(os.Args[0])] == nil {
		realagent.Isolate()
	}
	testscript.Main(crowd{m}, programs)
}

// A crowd runs more tests at once than there are processors, as most of them wait for
// other processes and for the disk. The flag -parallel counts more than that.
type crowd struct{ *testing.M }

func (c crowd) Run() int {
	check(flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))))
	return c.M.Run()
}

// The scripts are the manual: each file is one behaviour, named after its verb.
//
// Beside the commands of testscript they have
//
//	status N PROGRAM ARG...   run a program that must exit with status N
//	field NAME FIELD          set $NAME from a field of the last JSON line of stdout
//	mid NAME                  set $NAME to what stdout holds
//	until FILE PATTERN        wait until the file holds the pattern
//	retry PATTERN PROGRAM ARG...  run a program until its standard output holds the pattern
//	patch FILE OLD NEW        replace a text in a file
//
// and the programs repeat, bytes, capture, island, get and acp-agent.
func TestScripts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell, as the adapter exec does")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("DOCKET_HOME", filepath.Join(env.WorkDir, "store"))
			env.Setenv("DOCKET_SESSION", "")
			env.Setenv("GORACE", "atexit_sleep_ms=10") // by default each process of a race test takes a second to exit
			return nil
		},
		Condition: condition,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": cmdStatus, "field": cmdField, "mid": cmdMID, "until": cmdUntil, "retry": cmdRetry, "patch": cmdPatch,
		},
	})
}

// condition knows [island]: a small file system can be made for one script.
func condition(name string) (bool, error) {
	if name != "island" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return hasIslands(), nil
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("got status %d, want %d; stderr: %s", got, want, ts.ReadFile("stderr"))
	}
}

func cmdField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field NAME FIELD")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &object))
	value, ok := object[args[1]]
	if !ok {
		ts.Fatalf("no field %q in %s", args[1], lines[len(lines)-1])
	}
	ts.Setenv(args[0], fmt.Sprint(value))
}

func cmdMID(ts *testscript.TestScript, neg bool, args []string) {
	mid := strings.TrimSuffix(ts.ReadFile("stdout"), "\n")
	if neg || len(args) != 1 || mid == "" || strings.ContainsAny(mid, " \n") {
		ts.Fatalf("usage: mid NAME, with one word on stdout; got %q", mid)
	}
	ts.Setenv(args[0], mid)
}

func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: until FILE PATTERN")
	}
	awaitText(ts, args[0], args[1], func() string {
		content, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil {
			return ""
		}
		return string(content)
	})
}

func cmdRetry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: retry PATTERN PROGRAM ARG...")
	}
	awaitText(ts, "what "+args[1]+" prints", args[0], func() string {
		_ = ts.Exec(args[1], args[2:]...) // what it prints decides
		return ts.ReadFile("stdout")
	})
}

// awaitText waits until read returns a text with the pattern.
func awaitText(ts *testscript.TestScript, what, expr string, read func() string) {
	pattern, err := regexp.Compile("(?m)" + expr)
	ts.Check(err)
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for text := read(); !pattern.MatchString(text); text = read() {
		select {
		case <-tick.C:
		case <-deadline:
			ts.Fatalf("%s: no %s in it: %s", what, expr, text)
		}
	}
}

func cmdPatch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: patch FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(content), args[1]) {
		ts.Fatalf("%s does not hold %q: %s", args[0], args[1], content)
	}
	ts.Check(os.WriteFile(path, []byte(strings.Replace(string(content), args[1], args[2], 1)), 0o600))
}

// repeat prints a text so many times.
func repeat() {
	n, err := strconv.Atoi(os.Args[2])
	check(err)
	_, err = os.Stdout.WriteString(strings.Repeat(os.Args[1], n))
	check(err)
}

// printBytes prints the bytes of a quoted Go string.
func printBytes() {
	text, err := strconv.Unquote(`"` + os.Args[1] + `"`)
	check(err)
	_, err = os.Stdout.WriteString(text)
	check(err)
}

// capture runs a program with its output in a file, and its errors in another one
// too, so that a script can read them while the program runs. It passes signals on.
func capture() {
	out, err := os.Create(os.Args[1])
	check(err)
	complaints, err := os.Create(os.Args[1] + ".err")
	check(err)
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdout, cmd.Stderr, cmd.Stdin = out, io.MultiWriter(os.Stderr, complaints), os.Stdin
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	check(cmd.Start())
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	} else {
		check(err)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
