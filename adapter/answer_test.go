package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/docket-go/docket/adapter"
)

func TestAnswerOf(t *testing.T) {
	cause := errors.New("cause")
	for _, tt := range []struct {
		name string
		err  error
		want adapter.Answer
	}{
		{"nil", nil, adapter.Taken},
		{"refused", adapter.ErrRefused, adapter.Refused},
		{"busy", adapter.ErrBusy, adapter.Refused},
		{"blocked", adapter.ErrBlocked, adapter.Refused},
		{"gone", adapter.ErrGone, adapter.Refused},
		{"marked as refused", adapter.Refuse(cause), adapter.Refused},
		{"busy for a cause", adapter.Because(adapter.ErrBusy, cause), adapter.Refused},
		{"wrapped", fmt.Errorf("s1: %w", adapter.Refuse(cause)), adapter.Refused},
		{"unconfirmed", adapter.ErrUnconfirmed, adapter.Unconfirmed},
		{"marked as unconfirmed", adapter.Unconfirm(cause), adapter.Unconfirmed},
		{"unmarked proves nothing", cause, adapter.Unconfirmed},
		{"context alone proves nothing", context.Canceled, adapter.Unconfirmed},
		{"both: unconfirmed outweighs", errors.Join(adapter.ErrGone, adapter.ErrUnconfirmed), adapter.Unconfirmed},
		{"an unconfirmed refusal", adapter.Unconfirm(adapter.ErrBusy), adapter.Unconfirmed},
		{"a refused unconfirmed", adapter.Refuse(adapter.Unconfirm(cause)), adapter.Unconfirmed},
		{"panic with an error", adapter.Recovered(cause), adapter.Unconfirmed},
		{"panic with a refusal", adapter.Recovered(adapter.ErrBusy), adapter.Unconfirmed}, // it may have typed before
		{"panic with a word", adapter.Recovered("word"), adapter.Unconfirmed},
	} {
		if got := adapter.AnswerOf(tt.err); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestMarksKeepTextAndChain(t *testing.T) {
	cause := fmt.Errorf("pipe: %w", io.ErrClosedPipe)
	for _, tt := range []struct{ err, is error }{
		{adapter.Refuse(cause), adapter.ErrRefused},
		{adapter.Unconfirm(cause), adapter.ErrUnconfirmed},
		{adapter.Because(adapter.ErrGone, cause), adapter.ErrGone},
		{adapter.Because(adapter.ErrGone, cause), adapter.ErrRefused},
	} {
		if tt.err.Error() != cause.Error() || !errors.Is(tt.err, io.ErrClosedPipe) || !errors.Is(tt.err, tt.is) {
			t.Errorf("got %v, want the text and the chain of %v, and %v", tt.err, cause, tt.is)
		}
	}
	if errors.Is(adapter.Because(adapter.ErrGone, cause), adapter.ErrBusy) {
		t.Error("gone: got that it is busy, too, want one reason")
	}
	for _, tt := range []struct{ got, want error }{
		{adapter.Refuse(nil), adapter.ErrRefused},
		{adapter.Unconfirm(nil), adapter.ErrUnconfirmed},
		{adapter.Because(adapter.ErrBusy, nil), adapter.ErrBusy},
		{adapter.Refuse(adapter.ErrBusy), adapter.ErrBusy}, // marked already
	} {
		if tt.got != tt.want {
			t.Errorf("got %v, want %v", tt.got, tt.want)
		}
	}
	if got, want := adapter.Recovered("word").Error(), "the adapter panicked: word"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[fmt.Stringer]string{
		adapter.Unconfirmed: "unconfirmed", adapter.Taken: "taken", adapter.Refused: "refused", adapter.Answer(3): "undefined",
		adapter.CannotTell: "cannot tell", adapter.Present: "present", adapter.Absent: "absent", adapter.Presence(-1): "undefined",
		adapter.Unknown: "unknown", adapter.Idle: "idle", adapter.Busy: "busy", adapter.Blocked: "blocked", adapter.Gone: "gone",
		adapter.Hold: "hold", adapter.Redeliver: "redeliver", adapter.Policy(2): "undefined",
	} {
		if got.String() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
