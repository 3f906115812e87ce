package dispatch_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

var leakSends = flag.Int("sends", 10_000, "how many messages TestSendsLeakNothing sends")

// A taker takes everything, but refuses when it is told to, and remembers nothing.
type taker struct{ refuses bool }

func (*taker) Headless() bool { return false }

func (a *taker) Insert(context.Context, adapter.Prompt) error {
	if a.refuses {
		return adapter.ErrBusy
	}
	return nil
}

// Neither goroutines nor descriptors nor memory become more with the messages: most of
// them to one session, some to more sessions than are kept open, some refused at first,
// with keys, replayed, revoked or with a context that ends meanwhile.
func TestSendsLeakNothing(t *testing.T) {
	r, w, err := os.Pipe() // the first of its kind has the runtime open what it waits with
	must(t, err)
	must(t, errors.Join(r.Close(), w.Close()))
	before := openFiles()
	store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true}})
	must(t, err)
	var ids []string
	for i := range 80 {
		id := fmt.Sprintf("s%02d", i)
		s, err := store.Create(t.Context(), session.New{ID: id, Adapter: "taker"})
		must(t, err)
		must(t, s.Release())
		ids = append(ids, id)
	}
	a := &taker{}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "taker", Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return a, nil },
	}}})
	sends := func(from, to int) {
		for i := from; i < to; i++ {
			leakSend(t, d, a, ids, i)
		}
	}
	const warm = 4000 // after which every session was kept open, and its list a few times another file
	sends(0, warm)
	files, goroutines, heap := openFiles(), runtime.NumGoroutine(), liveHeap()
	sends(warm, warm+*leakSends)
	gotFiles, gotHeap := openFiles(), liveHeap()
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
	t.Logf("%d sends: descriptors %d, then %d; heap %d KiB, then %d", *leakSends, files, gotFiles, heap>>10, gotHeap>>10)
	// A list that is in use or is kept has one descriptor, one that was too long none.
	if gotFiles > files+3 {
		t.Errorf("got %d descriptors, want %d", gotFiles, files)
	}
	if gotHeap > heap+4<<20 {
		t.Errorf("the heap grew from %d to %d bytes", heap, gotHeap)
	}
	must(t, d.Close())
	if got := openFiles(); got > before {
		t.Errorf("closed: got %d descriptors, want %d", got, before)
	}
}

// leakSend is the i-th send.
func leakSend(t *testing.T, d *dispatch.Dispatcher, a *taker, ids []string, i int) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	to, m := ids[0], dispatch.Message{Text: fmt.Sprint("message ", i)}
	switch {
	case i%20 == 1: // to more sessions than are kept open
		to = ids[i/20%len(ids)]
	case i%50 == 2:
		m.Key = fmt.Sprint("key ", i/100) // each twice
		m.Text = m.Key
	case i%50 == 3:
		a.refuses = true
		defer func() { a.refuses = false }()
	case i%50 == 4:
		m.NoDrain, m.From = true, ids[1]
	case i%100 == 5:
		end()
		_, _ = d.SendText(ctx, to, m) // it is told that the context is over, or is not
		return
	}
	sent, err := d.SendText(ctx, to, m)
	must(t, err)
	if i%50 == 4 {
		must(t, d.Revoke(t.Context(), to, sent.MID))
	}
}

// liveHeap is what is in use once the garbage is gone.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
