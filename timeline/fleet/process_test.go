package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

const (
	writers       = 4
	crewSessions  = 6
	writerAppends = 150
)

// TestMain lets the test binary be a writer, or a reader, of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv("FLEET_TEST_WRITER"); dir != "" {
		if err := write(dir, os.Getenv("FLEET_TEST_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv("FLEET_TEST_LEAD"); dir != "" {
		if err := readAsLead(dir, os.Getenv("FLEET_TEST_DIES")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// write appends to each session in turn.
func write(dir, name string) (err error) {
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: true, SegmentBytes: 4000}})
	if err != nil {
		return err
	}
	ctx := context.Background()
	for i := range writerAppends {
		id := "s" + strconv.Itoa(i%crewSessions)
		s, err := store.Open(id)
		if err != nil {
			return err
		}
		_, err = s.Timeline().Append(ctx, timeline.Sent{MID: name + "-" + strconv.Itoa(i), Text: name})
		if err == nil && i%20 == 19 {
			_, err = s.Timeline().Seal(ctx)
		}
		if err := errors.Join(err, s.Release()); err != nil {
			return err
		}
	}
	return nil
}

// Several processes append and seal, while a follower reads, stops, and
// goes on from its cursor.
func TestProcesses(t *testing.T) {
	store := newStore(t)
	for i := range crewSessions {
		made(t, store, "s"+strconv.Itoa(i))
	}
	for i := range writers {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "FLEET_TEST_WRITER="+store.Dir(), "FLEET_TEST_NAME=w"+strconv.Itoa(i))
		child.Stderr = os.Stderr
		check(t, child.Start())
		defer func() { check(t, child.Wait()) }()
	}
	next := map[string]uint64{}
	seen := map[string]bool{}
	o := fleet.Options{}
	for len(seen) < writers*writerAppends {
		w := follow(t, store, o)
		for n := 0; n < 100 && len(seen) < writers*writerAppends; n++ {
			u, err, _ := w.next()
			check(t, err)
			o.Mode, o.After = fleet.After, u.Next
			if u.Event.MID == "" {
				continue
			}
			if u.Event.Seq != next[u.Session] || seen[u.Event.MID] {
				t.Fatalf("got %s %d %s, want number %d, and each once", u.Session, u.Event.Seq, u.Event.MID, next[u.Session])
			}
			next[u.Session]++
			seen[u.Event.MID] = true
		}
		w.stop()
	}
}
