package turn_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/turn"
)

// The memory of recovery and of reading does not grow with the log.
func TestMemoryIsBounded(t *testing.T) {
	const events, textBytes = 160, 200 << 10 // 32 MB
	dir := newDir(t)
	w := open(t, dir)
	tn := start(t, w, turn.Started{})
	text := strings.Repeat("x", textBytes)
	for range events {
		emit(t, tn, turn.Text{Text: text})
	}
	closeWriter(t, w)
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	limit := int64(16 << 20)
	debug.FreeOSMemory()
	before := heap()
	w = open(t, dir)
	if got := heap() - before; got > limit {
		t.Errorf("recovery took %d MB of the system, want at most %d", got>>20, limit>>20)
	}
	n := 0
	for _, err := range w.Log().History(context.Background(), cursor(t, w.Log().Start)) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if got := heap() - before; got > limit || n != events+1 {
		t.Errorf("reading %d events took %d MB of the system, want at most %d", n, got>>20, limit>>20)
	}
}

// heap returns the memory that the heap has from the system. It follows the greatest
// size of the heap, not the present one.
func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys - m.HeapReleased)
}
