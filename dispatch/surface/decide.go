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
	oldest, found, err := dispatch.Oldest(opened.Locks(), q.Peek)
	if err != nil || !found {
		return 0, refused(err)
	}
	if oldest.Unconfirmed() { // no other can be
		n++
	}
	return n, nil
}
