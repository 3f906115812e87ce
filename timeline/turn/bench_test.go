package turn_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/turn"
)

// The peer of BenchmarkEmit is the engine alone, with the same line under the same lock:
// the difference is what the rules of a turn cost.
func BenchmarkEmit(b *testing.B) {
	text := turn.Text{Text: strings.Repeat("words ", 20)}
	for _, buffered := range []bool{true, false} {
		b.Run(fmt.Sprintf("turn/buffered=%v", buffered), func(b *testing.B) {
			w := open(b, newDir(b), func(o *turn.Options) { o.Buffered = buffered })
			tn := start(b, w, turn.Started{})
			for b.Loop() {
				emit(b, tn, text)
			}
		})
		b.Run(fmt.Sprintf("segment/buffered=%v", buffered), func(b *testing.B) { benchSegment(b, buffered, line("1-a", text)) })
	}
}

func benchSegment(b *testing.B, buffered bool, line []byte) {
	dir := newDir(b)
	locks, err := lock.Open(dir, lock.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer locks.Close()
	log, err := segment.Open(dir, segment.Options{Dir: filepath.Join(dir, "turns"), Schema: turn.Schema, Buffered: buffered})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	for b.Loop() {
		held, err := locks.Record(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		w, err := log.Write(held, line)
		held.Release()
		if err == nil {
			err = log.Sync(w)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// Open reads the whole log; its peer reads as much through the engine.
func BenchmarkOpen(b *testing.B) {
	dir := newDir(b)
	w := open(b, dir)
	tn := start(b, w, turn.Started{})
	for range 5000 {
		emit(b, tn, turn.Text{Text: strings.Repeat("words ", 20)})
	}
	closeWriter(b, w)
	bytes := int64(len(fileBytes(b, dir)))
	b.Run("turn", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			closeWriter(b, open(b, dir))
		}
	})
	b.Run("segment", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			log, err := segment.Open(dir, segment.Options{Dir: filepath.Join(dir, "turns"), Schema: turn.Schema})
			if err != nil {
				b.Fatal(err)
			}
			v, err := log.View(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			for _, err := range v.Forward(context.Background(), 0) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
