package adapter

import (
	"errors"
	"fmt"
)

// ErrRefused marks an error of [Adapter.Insert] that proves that nothing of the
// prompt reached the harness. The prompt stays owed and is tried again later.
var ErrRefused = errors.New("adapter: refused")

// ErrUnconfirmed marks an error of [Adapter.Insert] after which the prompt may
// or may not have reached the harness. It is not handed over again unless a look
// shows that it is absent, the policy allows it, or a person says so.
var ErrUnconfirmed = errors.New("adapter: not confirmed")

// Reasons for a refusal; each is [ErrRefused].
var (
	ErrBusy    = Refuse(errors.New("the harness is busy: it is tried again later"))
	ErrBlocked = Refuse(errors.New("something in the harness is in the way: clear its dialog, draft or copy mode"))
	ErrGone    = Refuse(errors.New("the harness is not there: start it"))
)

// An Answer is what became of one hand-over.
type Answer int

// The three answers. The zero value is the one that claims nothing.
const (
	Unconfirmed Answer = iota // nothing is proven
	Taken                     // the harness has the prompt
	Refused                   // nothing of the prompt reached the harness
)

// String returns the word for a.
func (a Answer) String() string { return word(int(a), "unconfirmed", "taken", "refused") }

// AnswerOf reads the answer from an error of [Adapter.Insert]: nil is Taken, an
// error that is [ErrRefused] is Refused, and everything else is Unconfirmed, one
// that claims to be both included.
func AnswerOf(err error) Answer {
	switch {
	case err == nil:
		return Taken
	case errors.Is(err, ErrUnconfirmed):
		return Unconfirmed
	case errors.Is(err, ErrRefused):
		return Refused
	}
	return Unconfirmed
}

// Refuse returns err marked as [ErrRefused], with the same text. An error that is
// marked as [ErrUnconfirmed] stays unconfirmed. A nil err gives ErrRefused.
func Refuse(err error) error { return mark(ErrRefused, err) }

// Unconfirm returns err marked as [ErrUnconfirmed], with the same text. It
// outweighs a refusal inside err. A nil err gives ErrUnconfirmed.
func Unconfirm(err error) error { return mark(ErrUnconfirmed, err) }

// Because returns err marked with the reason of a refusal, which is [ErrBusy],
// [ErrBlocked] or [ErrGone], with the same text. A nil err gives the reason.
func Because(reason, err error) error { return mark(reason, err) }

// Recovered returns the unconfirmed error for a value that [Adapter.Insert]
// panicked with. It must not be called with nil.
func Recovered(value any) error {
	if err, ok := value.(error); ok {
		return Unconfirm(fmt.Errorf("the adapter panicked: %w", err))
	}
	return Unconfirm(fmt.Errorf("the adapter panicked: %v", value))
}

// marked is an error with an answer; it reads like the error alone.
type marked struct{ answer, err error }

func mark(answer, err error) error {
	if err == nil {
		return answer
	}
	if errors.Is(err, answer) {
		return err
	}
	return &marked{answer, err}
}

func (m *marked) Error() string   { return m.err.Error() }
func (m *marked) Unwrap() []error { return []error{m.answer, m.err} }
