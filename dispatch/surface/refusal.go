package surface

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/httpread"
)

// An answered error is one that has an answer of its own.
type answered struct {
	is     error
	status int
	code   string
	say    string
}

// refusals are tried in order; the first that fits counts. What is not here, package
// httpread knows.
func refusals() []answered {
	return []answered{
		{dispatch.ErrKeyReused, http.StatusConflict, "key-reused", "the Idempotency-Key was used for another message, which stands: take a new key for a new message"},
		{dispatch.ErrKey, http.StatusBadRequest, "bad-key", "the Idempotency-Key is too long, or no text: take a UUID"},
		{dispatch.ErrEmptyText, http.StatusUnprocessableEntity, "empty-text", "the text is empty: say something"},
		{compose.ErrChannel, http.StatusUnprocessableEntity, "bad-reply-via", "replyVia must be note or terminal, or left out"},
		{queue.ErrFull, http.StatusServiceUnavailable, "queue-full", "the session is owed as much as it may be: try again when its agent has taken some"},
		{queue.ErrCorrupt, http.StatusInternalServerError, "unreadable-queue", "the session's queue cannot be read: run docket repair on the server"},
		{lock.ErrReadOnly, http.StatusInternalServerError, "read-only", "the store cannot be written on this server, only read: send where it can be"},
		{lock.ErrUnsupported, http.StatusInternalServerError, "read-only", "the store cannot be written on this server, only read: send where it can be"},
		{syscall.ENOSPC, http.StatusInsufficientStorage, "disk-full", "the disk of the server is full: make room there, and send again"},
	}
}

// refused returns err as httpread answers it.
func refused(err error) error {
	for _, r := range refusals() {
		if errors.Is(err, r.is) {
			return &httpread.RefusalError{Status: r.status, Code: r.code, Say: r.say, Err: err}
		}
	}
	return err
}

// inDoubt says what to do about a message that was written and is not promised.
func inDoubt(mid string, keyed bool, err error) error {
	say := "it is written, as message %s, but the disk did not confirm it: ask for its state, and send it again only if there is none"
	if keyed {
		say = "it is written, as message %s, but the disk did not confirm it: ask for its state, or send it again with the same Idempotency-Key, which makes no second one"
	}
	return &httpread.RefusalError{
		Status: http.StatusInternalServerError, Code: "in-doubt", Say: fmt.Sprintf(say, mid), Err: err,
	}
}
