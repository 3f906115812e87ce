package queue_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// The note is JSON, and says what was noted.
func TestNoteText(t *testing.T) {
	utc := time.Date(2027, 1, 15, 8, 0, 0, 123456789, time.UTC)
	east := utc.In(time.FixedZone("east", 5*3600+30*60+7))
	for _, mid := range []string{"m1", `"\<&>` + "\u00e9\n", strings.Repeat("x", queue.MaxMIDBytes+1)} {
		for _, at := range []*time.Time{nil, &utc, &east} {
			text, err := queue.NoteText(mid, 3, at, at, "why <&>\x00\u2028")
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				MID, Digest, LastError string
				Attempts               int
				Claimed, LastAttempt   *time.Time
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			named := got.MID == mid || len(mid) > queue.MaxMIDBytes && got.MID == "" && len(got.Digest) == 64
			if !named || got.Attempts != 3 || got.LastError != "why <&>\x00\u2028" {
				t.Errorf("got %s", text)
			}
			if (at == nil) != (got.Claimed == nil) || at != nil && !(got.Claimed.Equal(*at) && got.LastAttempt.Equal(*at)) {
				t.Errorf("got %s, want the time %v", text, at)
			}
		}
	}
	far := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	if text, err := queue.NoteText("m1", 1, &far, nil, ""); err == nil {
		t.Errorf("year 10000: got %s, want an error", text)
	}
}

// Between the removal of one entry and the claim of the next the note is written once,
// and behind the last it is left. However a pass ends that leaves something owed, the
// note says nothing of an entry that is gone.
func TestNoteOfWhatIsGone(t *testing.T) {
	for _, tt := range []struct {
		name   string
		end    func(h *queue.Handover) // how the pass ends behind the first entry
		writes int                     // of the note
	}{
		{"empty", func(*queue.Handover) {}, 2},
		{"stopped by Before", func(h *queue.Handover) {
			asked := 0
			h.Before = func(context.Context) error {
				if asked++; asked == 2 {
					return errBusy
				}
				return nil
			}
		}, 2},
		{"Check fails", func(h *queue.Handover) {
			h.Check = func(_ context.Context, _ *lock.Record, e queue.Entry) (queue.Verdict, error) {
				if e.MID == "b" {
					return queue.Hand, errBusy
				}
				return queue.Hand, nil
			}
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.enqueue("a", "b")
			writes := 0
			d.SetWriteAt(func(f *os.File, p []byte, at int64) (int, error) {
				if strings.HasPrefix(filepath.Base(f.Name()), queue.ClaimFile) {
					writes++
				}
				return f.WriteAt(p, at)
			})
			h := (&agent{}).handover()
			tt.end(&h)
			d.drain(h)
			if writes != tt.writes {
				t.Errorf("got %d writes, want %d", writes, tt.writes)
			}
			note, err := os.ReadFile(filepath.Join(d.dir, queue.ClaimFile))
			if err != nil || strings.Contains(string(note), `"mid":"a"`) {
				t.Errorf("got %.80s, %v, want nothing of a", note, err)
			}
		})
	}
}

// The claim that a pass leaves behind the last entry is nobody's claim of the next, and
// what another handle notes of that one is read by the handle whose claim it was.
func TestClaimOfTheLastIsLeft(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	d.drain((&agent{}).handover())
	note, err := os.ReadFile(filepath.Join(d.dir, queue.ClaimFile))
	if err != nil || !strings.Contains(string(note), `"mid":"a"`) {
		t.Fatalf("got %.80s, %v, want the claim of a", note, err)
	}
	other := openDesk(t, d.dir, queue.Options{})
	other.enqueue("b")
	for _, desk := range []*desk{other, d} {
		if e := desk.head(); e.Unconfirmed() || e.Attempts != 0 {
			t.Errorf("got %+v, want no attempt at b", e)
		}
	}
	other.must(func(held *lock.Record) error { return other.Refused(held, "b", "busy") })
	if e := d.head(); e.Attempts != 1 || e.LastError != "busy" {
		t.Errorf("got %+v, want the attempt at b", e)
	}
}

// A second entry with the id of the first is not taken for claimed.
func TestSameIDTwice(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "a", "b")
	a := &agent{}
	if got, err := d.drain(a.handover()); err != nil || len(got.MIDs) != 3 {
		t.Fatalf("got %+v, %v, want all three handed over", got, err)
	}
	equal(t, "handed", a.handed, []string{"a", "a", "b"})
	d.atRest(nil)
}
