package turns

import (
	"context"
	"errors"
	"strings"

	"github.com/docket-go/docket/timeline/session"
)

// The notes of [Asking], by which it knows its own declarations again.
const (
	asks   = "The agent asks for permission:" // begins the note
	goesOn = "The agent goes on: nothing is asked any more."
)

// Asking returns the default for [Options.Permissions]: nothing is approved by itself,
// and a person is asked by the session's public status. While something is pending the
// session is declared asking, with a note that names the title and the options of
// each request and nothing else of it, and the commands that show the rest and that
// answer; afterwards it is active again, and idle once the turn is over. A status that the agent has declared
// meanwhile is left alone. A retired session declares nothing.
func Asking(s *session.Session) func(ctx context.Context, p Pending) error {
	return func(ctx context.Context, p Pending) error {
		if err := declare(ctx, s, p); !errors.Is(err, session.ErrRetired) {
			return err
		}
		return nil
	}
}

func declare(ctx context.Context, s *session.Session, p Pending) error {
	if len(p.Permissions) > 0 {
		_, err := s.Declare(ctx, session.Declaration{Status: session.StatusAsking, Note: note(s.ID(), p)})
		return err
	}
	now, err := s.Record()
	if err != nil {
		return err
	}
	asking := now.Status == session.StatusAsking && strings.HasPrefix(now.Note, asks)
	switch {
	case p.Finished && (asking || now.Status == session.StatusActive && now.Note == goesOn):
		_, err = s.Declare(ctx, session.Declaration{Status: session.StatusIdle})
	case !p.Finished && asking:
		_, err = s.Declare(ctx, session.Declaration{Status: session.StatusActive, Note: goesOn})
	}
	return err
}

// note says what is asked, and how it is answered.
func note(session string, p Pending) string {
	var b strings.Builder
	b.WriteString(asks)
	for _, asked := range p.Permissions {
		b.WriteString("\n" + line(asked.ID) + ": " + line(asked.Title))
		for i, option := range asked.Options {
			b.WriteString([]string{" (", ", "}[min(i, 1)] + line(option))
		}
		if len(asked.Options) > 0 {
			b.WriteString(")")
		}
	}
	which := "PERMISSION"
	if len(p.Permissions) == 1 {
		which = line(p.Permissions[0].ID)
	}
	b.WriteString("\nAnswer with docket permit " + session + " " + which + " OPTION: an ordinary message does not answer it." +
		"\nWhat exactly it is about, docket permit " + session + " shows as long as it waits.")
	return b.String()
}

// line makes one line of text that an agent gave, without what a note cannot hold.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
}
