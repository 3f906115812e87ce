package queue_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// A reader that is slower than the writers is told of no fault, however often they
// changed the file under it.
func TestReaderThatIsSlow(t *testing.T) {
	const added = 60
	d := newDesk(t, queue.Options{})
	d.SetPatience(200 * time.Millisecond)
	d.SetReadBytes(16)
	d.enqueue("m0", "m1")
	seen := 0
	for e, err := range d.All() {
		if want := fmt.Sprintf("m%d", seen); err != nil || e.MID != want {
			t.Fatalf("got %s, %v, want %s", e.MID, err, want)
		}
		if seen++; seen < added-1 {
			d.enqueue(fmt.Sprintf("m%d", seen+1))
		}
	}
	if seen != added {
		t.Errorf("got %d, want %d", seen, added)
	}
}

// A list of another writer that is damaged or cut while it is read is corrupt, behind what
// could be read, and no error of another kind.
func TestReaderOfAForeignListThatChanges(t *testing.T) {
	for name, change := range map[string]func(path, content string) error{
		"damaged": func(path, content string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt([]byte("####"), int64(len(content)-30))
			return errors.Join(err, f.Close())
		},
		"cut": func(path, content string) error { return os.Truncate(path, int64(len(content)/2)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.SetReadBytes(16)
			d.put(`[ {"mid":"a","text":"one"}, {"mid":"b","text":"two"}, {"mid":"c","text":"three"} ]`)
			var last error
			n := 0
			for _, err := range d.All() {
				if n++; n == 1 {
					if err := change(d.path(), d.content()); err != nil {
						t.Fatal(err)
					}
				}
				last = err
			}
			if !errors.Is(last, queue.ErrCorrupt) {
				t.Errorf("got %v, want ErrCorrupt", last)
			}
		})
	}
}

// A list of another writer that somebody damages while it is brought into this package's
// form is left as it is then: no message goes with the damage.
func TestForeignListThatIsDamagedMeanwhile(t *testing.T) {
	d := newDesk(t, queue.Options{})
	whole := "[\n  {\"mid\":\"a\",\n  \"text\":\"one\"},\n  {\"mid\":\"b\",\n  \"text\":\"two\"},\n  {\"mid\":\"c\",\n  \"text\":\"three\"}\n]\n"
	damaged := strings.Replace(whole, "two\"", "two\x00", 1)
	d.put(whole)
	d.SetTrouble(func(_, path string) error {
		if path != d.path() && d.content() == whole && strings.HasPrefix(path, d.path()) {
			d.put(damaged)
		}
		return nil
	})
	err := d.hold(func(held *lock.Record) error { return d.Enqueue(held, entry("d")) })
	if !errors.Is(err, queue.ErrCorrupt) || d.content() != damaged {
		t.Errorf("got %v and %q, want ErrCorrupt and the file as it is", err, d.content())
	}
}
