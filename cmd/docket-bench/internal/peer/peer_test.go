package peer_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/docket-go/docket/cmd/docket-bench/internal/peer"
	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
)

// shared are the logs that many goroutines may append to at once.
var shared = map[string]peer.Opener{
	"raw": peer.Raw, "raw group": peer.RawGroup, "raw locked": peer.RawLocked, "raw fresh": peer.RawFresh,
	"docket": peer.Docket, "docket fresh": peer.DocketFresh,
	"bbolt": peer.Bolt, "bbolt batch": peer.BoltBatch, "SQLite": peer.SQLite, "tidwall/wal": peer.WAL, "JetStream": peer.JetStream,
}

func TestEveryLogKeepsWhatIsAppended(t *testing.T) {
	for name, open := range shared {
		for _, d := range []peer.Durability{peer.Synced, peer.Buffered} {
			t.Run(name, func(t *testing.T) {
				l, err := open(t.TempDir(), d)
				if errors.Is(err, race.ErrAbsent) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				for worker := range uint64(4) {
					all.Go(func() {
						for i := range uint64(5) {
							if err := l.Append(5*worker + i); err != nil {
								t.Error(err)
							}
						}
					})
				}
				all.Wait()
				if n, err := l.Count(); n != 20 || err != nil {
					t.Errorf("got %d messages, %v, want 20", n, err)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestDocketUnderAHeldLock(t *testing.T) {
	l, err := peer.DocketLocked(t.TempDir(), peer.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(3) {
		if err := l.Append(n); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := l.Count(); n != 3 || err != nil {
		t.Errorf("got %d messages, %v, want 3", n, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A debt is paid once, the oldest first, and what is not owed cannot be handed over.
func TestDesks(t *testing.T) {
	for name, open := range map[string]peer.DeskOpener{"bbolt": peer.BoltDesk, "SQLite": peer.SQLiteDesk} {
		t.Run(name, func(t *testing.T) {
			k, err := open(t.TempDir(), peer.Buffered)
			if err != nil {
				t.Fatal(err)
			}
			var owed []int
			for _, step := range []func() error{
				func() error { return k.Accept(0) }, func() error { return k.Accept(1) }, k.HandOver, k.HandOver,
			} {
				if err := step(); err != nil {
					t.Fatal(err)
				}
				n, err := k.Owed()
				if err != nil {
					t.Fatal(err)
				}
				owed = append(owed, n)
			}
			if want := []int{1, 2, 1, 0}; !slices.Equal(owed, want) {
				t.Errorf("got %v, want %v", owed, want)
			}
			if k.HandOver() == nil {
				t.Error("handed over what is not owed")
			}
			if err := k.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The tail of a database is the messages that were stored last, the last one first.
func TestTails(t *testing.T) {
	for name, open := range map[string]peer.Opener{"bbolt": peer.Bolt, "SQLite": peer.SQLite} {
		t.Run(name, func(t *testing.T) {
			l, err := open(t.TempDir(), peer.Buffered)
			if err != nil {
				t.Fatal(err)
			}
			messages := l.(interface {
				Fill(n int) error
				Tail(n int) ([][]byte, error)
			})
			if err := messages.Fill(10); err != nil {
				t.Fatal(err)
			}
			lines, err := messages.Tail(3)
			if err != nil || len(lines) != 3 {
				t.Fatalf("got %d lines, %v, want 3", len(lines), err)
			}
			for i, line := range lines {
				if want := prose.Line(uint64(9 - i)); string(line) != string(want) {
					t.Errorf("line %d: got %s, want %s", i, line, want)
				}
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
