package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
	"github.com/docket-go/docket/cmd/docket-bench/internal/peer"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

func readAll(b *bench) race.Workload {
	return race.Workload{
		Name: "read", About: "read a whole log of " + count(b.size.middle) + " events; time an event",
		Limit: "counting lines", Rounds: 7,
		Contestants: []race.Contestant{
			b.reader("counting lines", countAll), b.reader("docket, public lines raw", readPlain),
			b.reader("docket, lines as shown", readShown), b.reader("docket, decoded", readDecoded), b.reader("encoding/json loop", readJSON),
			b.program("wc -l", "wc", "-l"),
			b.program("jq", "jq", "-c", `select(.kind == "sent" or .kind == "status")`),
		},
		Targets: []race.Target{
			{Of: "docket, public lines raw", AtLeast: 0.7, To: "counting lines"},
			{Of: "docket, decoded", AtLeast: 5, To: "encoding/json loop"},
		},
	}
}

// A whole reads a log to its end and returns how many events it has.
type whole func(ctx context.Context, dir string) (int, error)

// wholes are those that a child can be asked for.
var wholes = map[string]whole{"raw": readPlain, "decoded": readDecoded, "json": readJSON}

func (b *bench) reader(name string, read whole) race.Contestant {
	return race.Contestant{Name: name, Batch: b.size.middle, Open: func(ctx context.Context, _ string) (*race.Runner, error) {
		dir, err := b.log(b.size.middle)
		return &race.Runner{Round: func(want int) error {
			got, err := read(ctx, dir)
			if err == nil && got != want {
				err = fmt.Errorf("%d events were read, and there are %d", got, want)
			}
			return err
		}}, err
	}}
}

// program is a program that reads the segments and whose output nobody reads.
func (b *bench) program(name, program string, args ...string) race.Contestant {
	return race.Contestant{Name: name, Batch: b.size.middle, Open: func(ctx context.Context, _ string) (*race.Runner, error) {
		path, err := lookPath(program)
		if err != nil {
			return nil, err
		}
		dir, err := b.log(b.size.middle)
		if err != nil {
			return nil, err
		}
		paths, err := segmentPaths(dir)
		return &race.Runner{Round: func(int) error {
			return exec.CommandContext(ctx, path, append(args[:len(args):len(args)], paths...)...).Run()
		}}, err
	}}
}

func lookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%w: %w", race.ErrAbsent, err)
	}
	return path, nil
}

// countAll finds every line, and knows how many of them are events.
func countAll(_ context.Context, dir string) (lines int, err error) {
	paths, err := segmentPaths(dir)
	block := make([]byte, 128<<10)
	for _, path := range paths {
		n, err := peer.CountLines(path, block)
		if err != nil {
			return 0, err
		}
		lines += n - 1 // the header
	}
	return lines * 2 / 3, err // a declaration, a message, its settlement
}

// readPlain takes the public lines as they are stored.
func readPlain(ctx context.Context, dir string) (n int, err error) {
	l, err := plain(dir)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	r, err := l.Reader(ctx, 0)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for {
		line, err := r.Lend(ctx)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if line.Class == segment.Public {
			n++
		}
	}
}

// readShown is handed each event as users are shown it, without private fields.
func readShown(ctx context.Context, dir string) (n int, err error) {
	l, err := timeline.Open(dir, timeline.Options{})
	if err != nil {
		return 0, err
	}
	defer l.Close()
	for _, err := range l.Lines(ctx) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func readDecoded(ctx context.Context, dir string) (n int, err error) {
	l, err := timeline.Open(dir, timeline.Options{})
	if err != nil {
		return 0, err
	}
	defer l.Close()
	for _, err := range l.All(ctx) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// readJSON is what a reader without docket does.
func readJSON(_ context.Context, dir string) (n int, err error) {
	paths, err := segmentPaths(dir)
	for _, path := range paths {
		events, err := readFile(path)
		if err != nil {
			return n, err
		}
		n += events
	}
	return n, err
}

func readFile(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(bufio.NewReaderSize(f, 128<<10))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			TS, Kind, Status, Proposal, Note, MID, Text, From, ReplyVia string
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return n, err
		}
		if e.Kind == "sent" || e.Kind == "status" {
			n++
		}
	}
	return n, lines.Err()
}

func readMemory(b *bench) race.Workload {
	const most = 10 << 20
	short, long := b.size.small, b.size.large
	if b.size.huge > 0 {
		long = b.size.huge
	}
	name := func(what string, n int) string { return what + ", " + count(n) }
	w := race.Workload{
		Name: "read-memory", About: "read a whole log in a process of its own; its memory at the highest above that at the start",
		Unit: race.Bytes, Rounds: 3,
	}
	for _, n := range []int{short, long} {
		w.Contestants = append(w.Contestants, b.peak(name("docket, public lines raw", n), "raw", n), b.peak(name("docket, decoded", n), "decoded", n))
		w.Targets = append(w.Targets,
			race.Target{Of: name("docket, public lines raw", n), AtMost: most}, race.Target{Of: name("docket, decoded", n), AtMost: most})
	}
	w.Contestants = append(w.Contestants, b.peak(name("encoding/json loop", short), "json", short))
	return w
}

// peak reads a log of n events in a new process.
func (b *bench) peak(name, reader string, n int) race.Contestant {
	return race.Contestant{Name: name, Batch: 1, Open: func(ctx context.Context, _ string) (*race.Runner, error) {
		if _, err := machine.Threads(); err != nil {
			return nil, fmt.Errorf("%w: %w", race.ErrAbsent, err)
		}
		dir, err := b.log(n)
		return &race.Runner{Measure: func(int) (float64, error) { return once(ctx, n, "peak", reader, dir) }}, err
	}}
}

// peakRole is a child that reads a log of n events and answers with the growth of
// its memory.
func peakRole(args []string) (crew.Worker, error) {
	read, dir := wholes[args[0]], args[1]
	return func(want int) (float64, error) {
		highest, err := machine.Growth()
		if err != nil {
			return 0, err
		}
		got, err := read(context.Background(), dir)
		if err == nil && got != want {
			err = fmt.Errorf("%d events were read, and there are %d", got, want)
		}
		if err != nil {
			return 0, err
		}
		bytes, err := highest()
		return float64(bytes), err
	}, nil
}
