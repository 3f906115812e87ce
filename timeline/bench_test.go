package timeline_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
)

// benchMessage is a message of 300 bytes, as they are in life.
func benchMessage(i int) timeline.Sent {
	s := message(i)
	s.Text = strings.Repeat("run the tests ", 11)
	return s
}

// benchLog makes a log of n lines in several segments.
func benchLog(b *testing.B, n int) (dir string, l *timeline.Log) {
	b.Helper()
	dir = newDir(b)
	l = buffered(b, dir, 1<<20)
	group := make([]timeline.Entry, 0, 1000)
	for i := range n {
		group = append(group, benchMessage(i))
		if len(group) == cap(group) || i == n-1 {
			appendAll(b, l, group...)
			group = group[:0]
		}
	}
	return dir, l
}

func BenchmarkAppendHeldBuffered(b *testing.B) {
	dir := newDir(b)
	locks, err := lock.Open(dir, lock.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer locks.Close()
	l, err := timeline.Open(dir, timeline.Options{Buffered: true, Locks: locks})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	held, err := locks.Record(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer held.Release()
	for i := 0; b.Loop(); i++ {
		if _, err := l.Write(held, benchMessage(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendBuffered(b *testing.B) {
	l := buffered(b, newDir(b), 0)
	for i := 0; b.Loop(); i++ {
		appendAll(b, l, benchMessage(i))
	}
}

// A fresh handle for each line, as a command has it.
func BenchmarkAppendFreshBuffered(b *testing.B) {
	dir, _ := benchLog(b, 5000)
	for i := 0; b.Loop(); i++ {
		l, err := timeline.Open(dir, timeline.Options{Buffered: true})
		if err != nil {
			b.Fatal(err)
		}
		appendAll(b, l, benchMessage(i))
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTail500(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		_, l := benchLog(b, n)
		b.Run("of "+[]string{"1k", "100k"}[n/100_000], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if page, err := l.Tail(b.Context(), 500); err != nil || len(page.Events) != 500 {
					b.Fatal(len(page.Events), err)
				}
			}
		})
	}
}

func BenchmarkTailInto500(b *testing.B) {
	_, l := benchLog(b, 1000)
	b.ReportAllocs()
	var page timeline.Page
	for b.Loop() {
		if err := l.TailInto(b.Context(), &page, 500); err != nil || len(page.Events) != 500 {
			b.Fatal(len(page.Events), err)
		}
	}
}

const benchLines = 20_000

func BenchmarkAll(b *testing.B) {
	dir, l := benchLog(b, benchLines)
	b.Run("docket", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for _, err := range l.All(b.Context()) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			if n != benchLines {
				b.Fatal(n)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n := jsonLoop(b, dir); n != benchLines {
				b.Fatal(n)
			}
		}
	})
}

// jsonLoop is what a reader without this package does.
func jsonLoop(b *testing.B, dir string) (n int) {
	paths, err := filepath.Glob(filepath.Join(dir, "timeline", "*.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(raw))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e struct {
				TS, Kind, Status, Proposal, Note, MID, Text, From, ReplyVia string
			}
			if json.Unmarshal(lines.Bytes(), &e) == nil && (e.Kind == "sent" || e.Kind == "status") {
				n++
			}
		}
	}
	return n
}

// The same without decoding, which is what the engine does with each line.
func BenchmarkClassify(b *testing.B) {
	line, err := timeline.EncodeEntry(benchMessage(1), now)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		timeline.Schema.Classify(line)
	}
}

func BenchmarkDecode(b *testing.B) {
	line, err := timeline.EncodeEntry(benchMessage(1), now)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := timeline.DecodeLine(line); err != nil {
			b.Fatal(err)
		}
	}
}

// The last human message lies in an older segment, and the newest one is full of
// others.
func BenchmarkLastHuman(b *testing.B) {
	dir := newDir(b)
	l := buffered(b, dir, 0)
	appendAll(b, l, benchMessage(0))
	for i := range 2 {
		group := make([]timeline.Entry, 12_000)
		for j := range group {
			peer := benchMessage(12_000*i + j)
			peer.From = "lead"
			group[j] = peer
		}
		appendAll(b, l, group...)
	}
	for b.Loop() {
		if _, ok, err := l.LastHuman(b.Context()); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkOwed(b *testing.B) {
	l := buffered(b, newDir(b), 1<<20)
	for i := range timeline.MaxListed {
		peers := make([]timeline.Entry, 100)
		for j := range peers {
			peers[j] = timeline.Status{Status: "active", Note: benchMessage(j).Text}
		}
		appendAll(b, l, append(peers, benchMessage(i))...)
	}
	for b.Loop() {
		if debts, err := l.Owed(b.Context()); len(debts) != timeline.MaxListed || err != nil {
			b.Fatal(len(debts), err)
		}
	}
}
