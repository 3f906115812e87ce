// Command docket-bench shows how fast docket is beside what the operating system
// allows and beside other things that keep messages.
//
//	go run . -quick
//	go run . -full -json -run 'append|tail'
//
// # What it keeps
//
// Nothing. It works in a new directory below -dir, which it removes at the end.
//
// # Guarantees
//
// Within a workload every contestant stores the same messages and promises the same
// durability, works in turn with the others in the same run (package race), and has
// to prove that its work was done. A contestant that the machine lacks is named as
// absent. The exit status is 1 if a contestant failed, and 0 whether or not targets
// were met: whether they were depends on the machine, and is printed.
//
// # Crashes
//
// A run that is killed leaves its directory, named docket-bench-*.
//
// # Format
//
// A table for each workload, with -markdown as README.md has it, or with -json one
// object a line: first the machine, then a line with "contestant" for each contestant
// and one with "target" for each target. Figures are in the unit that the line names.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program without its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 1 && args[0] == crew.Verb {
		return crew.Obey(roles[args[1]], args[2:], os.Stdin, stdout)
	}
	o, err := parse(args, stderr)
	if errors.Is(err, errUsage) {
		return 2
	}
	if err == nil {
		err = o.race(ctx, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintf(stderr, "docket-bench: %v\n", err)
		return 1
	}
	return 0
}

// race runs the chosen workloads.
func (o options) race(ctx context.Context, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp(o.dir, "docket-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if o.profile != "" {
		stop, err := profile(o.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	b := &bench{ctx: ctx, dir: dir, size: o.size, docket: o.docket}
	out := printer{w: stdout, json: o.json, markdown: o.markdown}
	if o.list {
		return out.list(o.chosen(b))
	}
	if err := out.machine(machine.Describe(dir), o.size); err != nil {
		return err
	}
	return o.each(b, out, stderr)
}

// each runs one workload after the other. One that fails does not keep the others
// from running.
func (o options) each(b *bench, out printer, stderr io.Writer) error {
	var failed error
	for _, w := range o.chosen(b) {
		result, err := b.run(w)
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(stderr, "docket-bench: %v\n", err)
			failed = errors.New("not every contestant did its work: see above")
			continue
		}
		if err := out.result(result); err != nil {
			return err
		}
	}
	return failed
}

// chosen are the workloads that -run matches, or all.
func (o options) chosen(b *bench) (chosen []race.Workload) {
	for _, w := range workloads(b) {
		if o.match.MatchString(w.Name) {
			chosen = append(chosen, w)
		}
	}
	return chosen
}

// profile starts a CPU profile of this process, with the labels "workload" and
// "contestant". Children are not in it.
func profile(path string) (stop func() error, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
