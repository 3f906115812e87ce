package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

const (
	segments  = "timeline" // in a session directory, as package timeline has it
	operation = "send"
	keyedIn   = 20 // one event in so many is a message with a key
)

// log returns the session directory of a log of n events, which nobody must write
// to. Its events are in turn a declaration and a message, each message settled
// behind it. In the first half one message in a hundred is of a human.
func (b *bench) log(n int) (dir string, err error) {
	if dir, ok := b.logs[n]; ok {
		return dir, nil
	}
	dir = filepath.Join(b.dir, "log-"+strconv.Itoa(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	l, err := timeline.Open(dir, timeline.Options{Buffered: true, SegmentBytes: b.size.segment})
	if err != nil {
		return "", err
	}
	const group = 500
	for from := 0; from < n; from += group {
		var entries []timeline.Entry
		for i := from; i < min(n, from+group); i++ {
			entries = append(entries, events(i, n)...)
		}
		if _, err := l.Append(b.ctx, entries...); err != nil {
			return "", errors.Join(err, l.Close())
		}
	}
	if b.logs == nil {
		b.logs = map[int]string{}
	}
	b.logs[n] = dir
	return dir, l.Close()
}

// events are the i-th event of a log of n, and what follows it privately.
func events(i, n int) []timeline.Entry {
	at := uint64(i)
	if i%2 == 0 {
		return []timeline.Entry{timeline.Status{Time: prose.At(at), Status: "active", Note: prose.Text(at)}}
	}
	sent := prose.Sent(at)
	sent.NoDebt = false
	if i > n/2 || i%200 != 1 {
		sent.From = "lead"
	}
	settled := timeline.Settled{Time: sent.Time.Add(time.Second), MID: sent.MID}
	if keyed(i) {
		digest := keyDigest(at)
		sent.Receipt = &timeline.Receipt{
			Operation: operation, RequestDigest: digest, PayloadHash: digest,
			Delivery: timeline.Delivery{Text: sent.Text, From: sent.From},
		}
		settled.Operation, settled.RequestDigest = operation, digest
	}
	return []timeline.Entry{sent, settled}
}

func keyed(i int) bool { return i%keyedIn == 1 }

// keyDigest is the digest of the key of the n-th message.
func keyDigest(n uint64) string {
	sum := sha256.Sum256(strconv.AppendUint(nil, n, 10))
	return hex.EncodeToString(sum[:])
}

// clone gives the session directory dir a log of n events of its own to write to.
// Segments that are not written any more are shared.
func (b *bench) clone(n int, dir string) error {
	from, err := b.log(n)
	if err != nil {
		return err
	}
	paths, err := segmentPaths(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, segments), 0o700); err != nil {
		return err
	}
	for i, path := range paths {
		to := filepath.Join(dir, segments, filepath.Base(path))
		if i < len(paths)-1 && os.Link(path, to) == nil {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// segmentPaths are the plain segments of a session directory, oldest first.
func segmentPaths(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, segments, "*.ndjson"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("no segments in the log")
	}
	slices.Sort(paths)
	return paths, err
}

// openClone opens a clone of the log of n events in dir.
func (b *bench) openClone(n int, dir string, o timeline.Options) (*timeline.Log, error) {
	if err := b.clone(n, dir); err != nil {
		return nil, err
	}
	return timeline.Open(dir, o)
}

// plain reads a timeline without decoding its lines.
func plain(dir string) (*segment.Log, error) {
	return segment.Open(dir, segment.Options{Dir: filepath.Join(dir, segments), Schema: byPosition{}})
}

// byPosition finds the kind of a line at its place and looks at nothing else.
type byPosition struct{ segment.Schema }

// kindAt is where the kind stands in a line of docket.
const kindAt = len(`{"ts":"2026-07-01T09:00:00.000Z","kind":"`)

func (byPosition) Classify(line []byte) segment.Class {
	if len(line) > kindAt+8 {
		if rest := line[kindAt:]; string(rest[:5]) == `sent"` || string(rest[:7]) == `status"` {
			return segment.Public
		}
	}
	return segment.Private
}

// closeAll calls all of them and returns what went wrong.
func closeAll(closers ...func() error) error {
	var errs []error
	for _, c := range closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// openLog opens the shared log of n events for reading.
func (b *bench) openLog(_ context.Context, n int) (*timeline.Log, string, error) {
	dir, err := b.log(n)
	if err != nil {
		return nil, "", err
	}
	l, err := timeline.Open(dir, timeline.Options{})
	return l, dir, err
}
