package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
)

// The test binary is its own child, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == crew.Verb {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// tiny is enough to see that every contestant works.
var tiny = size{
	name: "tiny", rounds: 2, round: 500 * time.Microsecond, segment: 64 << 10,
	small: 1000, middle: 1500, large: 2000, huge: 3000,
	together: 8, writers: 2, drained: 20, deep: 150, sessions: 20, waiting: 40, idle: 40 * time.Millisecond,
}

// tinyRun runs workloads and returns what is printed.
func tinyRun(t *testing.T, pattern string, asJSON bool) (o options, out string) {
	t.Helper()
	o = options{size: tiny, match: regexp.MustCompile(pattern), dir: t.TempDir(), json: asJSON}
	var stdout, stderr bytes.Buffer
	if err := o.race(t.Context(), &stdout, &stderr); err != nil || stderr.Len() > 0 {
		t.Fatalf("got %v, %s", err, stderr.String())
	}
	if left, err := os.ReadDir(o.dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return o, stdout.String()
}

func TestEveryWorkload(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	o, out := tinyRun(t, "", true)
	contestants, targets := map[string]int{}, map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var got struct {
			Size, Go                      string
			Workload, Contestant, Unit    string
			Median, Min, Max, Ratio       float64
			Rounds, Operations            int
			Limit, Absent, Target, Of     string
			AtMost, AtLeast, Got          float64
			Met                           *bool
			CPU, OS, Arch, FileSystem, To string
			Cores                         int
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil {
			t.Fatalf("line %d: %v: %s", i, err, line)
		}
		switch {
		case i == 0:
			if got.Size != "tiny" || got.Go == "" || got.Cores == 0 {
				t.Errorf("the first line says nothing of the machine: %s", line)
			}
		case got.Target != "":
			targets[got.Workload]++
			if got.Met == nil || got.AtMost == 0 == (got.AtLeast == 0) {
				t.Errorf("a target without a bound or a verdict: %s", line)
			}
		case got.Contestant != "":
			contestants[got.Workload]++
			if got.Absent == "" && (got.Min > got.Median || got.Median > got.Max || got.Rounds == 0 || got.Operations == 0 || got.Unit == "") {
				t.Errorf("figures that cannot be: %s", line)
			}
		default:
			t.Errorf("line %d is of no kind: %s", i, line)
		}
	}
	for _, w := range workloads(&bench{size: o.size}) {
		if contestants[w.Name] != len(w.Contestants) {
			t.Errorf("%s: got %d contestants, want %d", w.Name, contestants[w.Name], len(w.Contestants))
		}
		if targets[w.Name] > len(w.Targets) {
			t.Errorf("%s: got %d targets, want at most %d", w.Name, targets[w.Name], len(w.Targets))
		}
	}
}

func TestTablesForPeople(t *testing.T) {
	_, out := tinyRun(t, "^append-durable$", false)
	for _, want := range []string{
		`(?m)^.*\d+ cores, .*, tiny run$`,
		`(?m)^append-durable: .`,
		`(?m)^ +median +min +max +ratio +rounds x operations$`,
		`(?m)^  write \+ data sync +[\d.]+ .?s +[\d.]+ .?s +[\d.]+ .?s +limit +2 x \d+$`,
		`(?m)^  docket, held handle +[\d.]+ .?s +[\d.]+ .?s +[\d.]+ .?s +[\d.]+ +2 x \d+$`,
		`(?m)^  target: docket, held handle <= 1.1 x write \+ data sync: [\d.]+, (met|NOT MET)$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("nothing like %s in\n%s", want, out)
		}
	}
}

// Targets and limits name contestants, and names are what -run chooses by.
func TestNamesFit(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range workloads(&bench{size: full}) {
		if seen[w.Name] {
			t.Errorf("two workloads are called %s", w.Name)
		}
		seen[w.Name] = true
		names := map[string]bool{"": true}
		for _, c := range w.Contestants {
			if names[c.Name] {
				t.Errorf("%s: two contestants are called %q", w.Name, c.Name)
			}
			names[c.Name] = true
		}
		if !names[w.Limit] {
			t.Errorf("%s: the limit %q is no contestant", w.Name, w.Limit)
		}
		for _, target := range w.Targets {
			if !names[target.Of] || !names[target.To] {
				t.Errorf("%s: the target %q is of no contestant", w.Name, target)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		stdout string
		stderr string
	}{
		{"lists what -run matches", []string{"-list", "-run", "^lock$"}, 0, `^lock  .*\n$`, `^$`},
		{"lists for machines", []string{"-list", "-json", "-run", "^lock$"}, 0, `^\{"workload":"lock","about":".*"\}\n$`, `^$`},
		{"one size", []string{"-quick", "-full"}, 2, `^$`, `^docket-bench: -quick and -full exclude each other: see docket-bench -help\n$`},
		{"one form", []string{"-json", "-markdown"}, 2, `^$`, `^docket-bench: -json and -markdown exclude each other: see docket-bench -help\n$`},
		{"for a page", []string{"-markdown", "-run", "^$"}, 0, `^.*\d+ cores, .*, quick run\n.*\n$`, `^$`},
		{"no arguments", []string{"quick"}, 2, `^$`, `arguments are not taken`},
		{"a pattern", []string{"-run", "("}, 2, `^$`, `missing closing`},
		{"a flag", []string{"-fast"}, 2, `^$`, `not defined`},
		{"a directory", []string{"-list", "-dir", filepath.Join(t.TempDir(), "none")}, 1, `^$`, `no such file|cannot find`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if got := run(t.Context(), tt.args, &stdout, &stderr); got != tt.status {
				t.Errorf("got status %d, want %d", got, tt.status)
			}
			if !regexp.MustCompile(tt.stdout).MatchString(stdout.String()) {
				t.Errorf("stdout: got %q, want %s", stdout.String(), tt.stdout)
			}
			if !regexp.MustCompile(tt.stderr).MatchString(stderr.String()) {
				t.Errorf("stderr: got %q, want %s", stderr.String(), tt.stderr)
			}
		})
	}
}

func TestProfileHasTheContestants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu.prof")
	o := options{size: tiny, match: regexp.MustCompile("^lock$"), dir: t.TempDir(), profile: path}
	if err := o.race(t.Context(), &bytes.Buffer{}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("no profile: %v", err)
	}
}
