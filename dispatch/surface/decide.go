package surface

import (
	"context"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
)

// unconfirmed counts the messages of which nobody knows whether they arrived. It opens
// the queue by itself, as count does.
func (s source) unconfirmed(_ context.Context, id string) (n int, err error) {
	opened, err := s.d.Store().Open(id)
	if err != nil {
		return 0, err
	}
	defer opened.Release()
	q, err := queue.Open(opened.Dir(), queue.Options{Locks: opened.Locks()})
	if err != nil {
		return 0, err
	}
	defer q.Close()
	var behind []queue.Entry
	oldest, found, err := dispatch.Oldest(opened.Locks(), func() (e queue.Entry, found bool, err error) {
		entries, err := q.List()
		if len(entries) == 0 {
			return e, false, err
		}
		behind = entries[1:]
		return entries[0], true, err
	})
	if err != nil || !found {
		return 0, refused(err)
	}
	if oldest.Unconfirmed() {
		n++
	}
	for _, e := range behind { // a repair leaves some there
		if e.Unconfirmed() {
			n++
		}
	}
	return n, nil
}
