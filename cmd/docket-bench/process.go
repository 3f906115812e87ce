package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// module is the one whose program is built.
const module = "github.com/docket-go/docket"

func processSend(b *bench) race.Workload {
	const plain, keyed = "docket send", "docket send --key"
	return race.Workload{
		Name: "process-send", About: "docket send as a whole process, from its start to its end; on stable storage",
		Limit: "docket version",
		Contestants: []race.Contestant{
			b.process("true", "true"), b.process("docket version", "docket", "version"),
			b.sender(plain), b.sender(keyed, "--key", "%"),
		},
		Targets: []race.Target{{Of: plain, AtMost: float64(6*time.Millisecond + 600*time.Microsecond), Note: "6 ms, and 0.6 ms for the data sync"}},
	}
}

func processLog(b *bench) race.Workload {
	const people, machines = "docket log --limit 500", "docket log --limit 500 --json"
	return race.Workload{
		Name: "process-log", About: "the last 500 events of a log of " + count(b.size.large) + " as the output of a whole process",
		Limit: "tail -n 750",
		Contestants: []race.Contestant{
			b.tailProgram("tail -n 750"), b.logPrinter(people), b.logPrinter(machines, "--json"),
		},
		Targets: []race.Target{
			{Of: people, AtMost: 2.5, To: "tail -n 750", Note: "750 lines hold 500 events"},
			{Of: machines, AtMost: 2.5, To: "tail -n 750"},
		},
	}
}

// find returns the path of a program; docket is built once.
func (b *bench) find(program string) (string, error) {
	if program != "docket" {
		return lookPath(program)
	}
	if b.docket != "" {
		return filepath.Abs(b.docket)
	}
	source, err := exec.CommandContext(b.ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("%w: run it in its own folder, or name a built docket with -docket: %w", race.ErrAbsent, err)
	}
	path := filepath.Join(b.dir, "docket")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := exec.CommandContext(b.ctx, "go", "build", "-o", path, "./cmd/docket")
	build.Dir = strings.TrimSpace(string(source))
	// It needs nothing of the system's C library, which takes a millisecond to load.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build docket: %w: %s", err, out)
	}
	b.docket = path
	return path, rewrite(path)
}

// rewrite writes a program anew, as one is that was copied to its place or read from the
// disk since. What the linker wrote here and there lies in small pages of memory, and a
// start of it takes a third of a millisecond more.
func rewrite(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o755)
}

// process starts a program again and again.
func (b *bench) process(name, program string, args ...string) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, _ string) (*race.Runner, error) {
		path, err := b.find(program)
		if err != nil {
			return nil, err
		}
		return &race.Runner{Round: func(n int) error {
			return repeat(n, func() error { return start(ctx, nil, path, args...) })
		}}, nil
	}}
}

// start runs a program to its end. Its output goes to out, or nowhere.
func start(ctx context.Context, out *bytes.Buffer, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(path), err, complaint.Bytes())
	}
	return nil
}

// sender sends messages to a session without an adapter. In the flags "%" stands for
// a text that is new each time.
func (b *bench) sender(name string, flags ...string) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		path, err := b.find("docket")
		if err != nil {
			return nil, err
		}
		s, err := b.createSession(ctx, dir)
		if err != nil {
			return nil, err
		}
		sent := uint64(0)
		return &race.Runner{
			Round: func(n int) error {
				return repeat(n, func() error {
					sent++
					args := []string{"--store", dir, "send", worker, prose.Text(sent)}
					for _, f := range flags {
						args = append(args, strings.ReplaceAll(f, "%", strconv.FormatUint(sent, 10)))
					}
					return start(ctx, nil, path, args...)
				})
			},
			Check: func(n int) error {
				page, err := s.Timeline().Tail(ctx, n+1)
				if err == nil && len(page.Events) != n {
					err = fmt.Errorf("%d messages were sent, and the timeline has %d", n, len(page.Events))
				}
				return err
			},
			Close: s.Release,
		}, nil
	}}
}

func (b *bench) createSession(ctx context.Context, dir string) (*session.Session, error) {
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		return nil, err
	}
	return store.Create(ctx, session.New{ID: worker, Adapter: "none"})
}

// logPrinter prints the end of a long log.
func (b *bench) logPrinter(name string, flags ...string) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		path, err := b.find("docket")
		if err != nil {
			return nil, err
		}
		s, err := b.createSession(ctx, dir)
		if err != nil {
			return nil, err
		}
		args := append([]string{"--store", dir, "log", worker, "--limit", strconv.Itoa(tailed)}, flags...)
		return &race.Runner{
			Round: func(n int) error {
				return repeat(n, func() error { return start(ctx, nil, path, args...) })
			},
			Check: func(int) error {
				var out bytes.Buffer
				err := start(ctx, &out, path, args...)
				if lines := bytes.Count(out.Bytes(), []byte{'\n'}); err == nil && lines < tailed {
					err = fmt.Errorf("%d lines were printed", lines)
				}
				return err
			},
			Close: s.Release,
		}, b.clone(b.size.large, s.Dir())
	}}
}

// tailProgram prints the lines of the last events of a long log.
func (b *bench) tailProgram(name string) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, _ string) (*race.Runner, error) {
		path, err := lookPath("tail")
		if err != nil {
			return nil, err
		}
		dir, err := b.log(b.size.large)
		if err != nil {
			return nil, err
		}
		paths, err := segmentPaths(dir)
		if err != nil {
			return nil, err
		}
		newest := paths[len(paths)-1]
		if _, err := os.Stat(newest); err != nil {
			return nil, errors.Join(race.ErrAbsent, err)
		}
		lines := strconv.Itoa(tailed * 3 / 2)
		return &race.Runner{Round: func(n int) error {
			return repeat(n, func() error { return start(ctx, nil, path, "-n", lines, newest) })
		}}, nil
	}}
}
