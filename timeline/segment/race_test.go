package segment_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/segment"
)

// Processes write and seal one log at the same time, and a reader follows it: it
// sees every acknowledged line once, in the order of the sequence, as does a reader
// that comes later.
func TestProcessesRace(t *testing.T) {
	const writers = 3
	f := newFixture(t, t.TempDir(), crashOptions)
	defer f.close()
	r, err := f.log.Reader(context.Background(), 0)
	must(t, err)
	defer r.Close()

	acked := make([]bytes.Buffer, writers)
	var running sync.WaitGroup
	for i := range writers {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+f.dir, fmt.Sprint(childSeed, "=", i+1))
		cmd.Stdout, cmd.Stderr = &acked[i], os.Stderr
		must(t, cmd.Start())
		running.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	done := make(chan struct{})
	go func() { running.Wait(); close(done) }()
	got := followUntil(t, r, done)

	want := map[string]bool{}
	for i := range acked {
		for _, id := range strings.Fields(acked[i].String()) {
			want[id] = true
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d lines, want %d", len(got), len(want))
	}
	for i, it := range got {
		if !want[it.id] || it.seq != uint64(i) {
			t.Fatalf("got %v at place %d (acknowledged: %v)", it, i, want[it.id])
		}
		delete(want, it.id)
	}
	later, bad := readFrom(t, f.log, 0)
	sameItems(t, "a later reader", later, got)
	if notes, damage := verify(t, f.log); len(damage) > 0 || len(notes) > 0 || len(bad) > 0 {
		t.Errorf("got %v %v %v", notes, damage, bad)
	}
}

// followUntil reads whatever comes until done is closed and the end is reached.
func followUntil(t *testing.T, r *segment.Reader, done <-chan struct{}) (items []item) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for last := false; ; {
		line, err := r.Next(context.Background())
		if err == io.EOF {
			if last {
				return items
			}
			select {
			case <-done:
				last = true
			case <-tick.C:
			}
			continue
		}
		must(t, err)
		if line.Class == segment.Unreadable {
			t.Fatalf("got damage %v", line.Err)
		}
		if it, ok := itemOf(line); ok {
			items = append(items, it)
		}
	}
}
