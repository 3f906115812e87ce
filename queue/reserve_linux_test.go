package queue_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// Room is set aside behind the end, where no reader sees it.
func TestReserveTakesRoom(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	before := d.content()
	e := entry("b")
	e.Text = strings.Repeat("b", 1<<20)
	d.must(func(held *lock.Record) error { return d.Reserve(held, e) })
	info, err := os.Stat(d.path())
	if err != nil || d.content() != before {
		t.Fatalf("got %d bytes, %v, want %d", info.Size(), err, len(before))
	}
	if room := info.Sys().(*syscall.Stat_t).Blocks * 512; room < 1<<20 {
		t.Errorf("got room for %d bytes, want at least %d", room, 1<<20)
	}
}
