package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/cmd/docket/internal/top"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/debts"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// Options configures a Feed. Store, Debts, Explain, Line and Lines are needed.
type Options struct {
	Store *session.Store

	// Match are patterns of [path.Match], of which a session's id must fit one. None
	// means every session.
	Match []string

	// Debts yields what a session is owed, in order.
	Debts func(ctx context.Context, id string) iter.Seq2[dispatch.Debt, error]

	// Hostless says that nobody serves a session that owes something, and what to do;
	// empty means that there is nothing to say. It is told in place of what the last
	// pass met. Nil means that this is all that is told.
	Hostless func(ctx context.Context, s *session.Session) string

	// AtWork reports that the agent of a session has a turn open. It is asked of those
	// that declared nothing. Nil means that nobody knows.
	AtWork func(ctx context.Context, s *session.Session, r session.Record) bool

	// Explain says what went wrong with a session, in one line that ends in what to do.
	Explain func(id string, err error) string

	// Line and Lines make a text of others harmless, the first one as one line.
	Line, Lines func(text string) string

	// Poll is how often sessions are looked at of which nothing is notified: at most a
	// thousand at a time. Zero means a second; a negative value means -Poll, and that no
	// notification is asked for.
	Poll time.Duration
}

// A Feed reads a store for the view. It is safe for concurrent use.
type Feed struct {
	options Options
}

// New returns the feed of a store. It reads nothing yet.
func New(o Options) *Feed {
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	return &Feed{o}
}

const (
	lineBytes  = 400      // of a text that is shown in one line
	textBytes  = 64 << 10 // of a text that is shown as a whole
	debtBytes  = 16 << 10 // of the text of a message that is owed
	debtsShown = 500
)

// Look returns what a session is at, and false if there is none. It costs the same
// however long the session's timeline is.
func (f *Feed) Look(ctx context.Context, id string) (top.Row, bool) {
	return f.look(ctx, id, func(string) {})
}

// look is Look that says where the session is before it reads anything.
func (f *Feed) look(ctx context.Context, id string, opened func(dir string)) (r top.Row, there bool) {
	r.ID = id
	s, err := f.options.Store.Open(id)
	if err != nil {
		f.failed(&r, err)
		r.Uncounted = true
		return r, !gone(err)
	}
	defer s.Release()
	opened(s.Dir())
	record, err := s.Record()
	if gone(err) {
		return r, false
	}
	if f.failed(&r, err); err == nil {
		f.describe(&r, record)
		r.Works = r.Status == "" && f.options.AtWork != nil && f.options.AtWork(ctx, s, record)
	}
	if err := f.count(ctx, &r, s.Dir()); err != nil {
		f.failed(&r, err)
		r.Uncounted = true
	}
	if r.Owed > 0 && !r.Unconfirmed && !r.Handing {
		r.Failed = cmp.Or(f.hostless(ctx, s), r.Failed)
	}
	page, err := s.Timeline().Tail(ctx, 1)
	f.failed(&r, err)
	if len(page.Events) == 1 {
		r.Last = page.Events[0].Time
	}
	return r, !gone(err)
}

// failed notes the first thing that cannot be read.
func (f *Feed) failed(r *top.Row, err error) {
	if err != nil && r.Err == nil {
		r.Bad, r.Err = f.explain(r.ID, err), err
	}
}

func gone(err error) bool {
	return errors.Is(err, session.ErrNotFound) || errors.Is(err, lock.ErrClosed) || errors.Is(err, timeline.ErrClosed)
}

func (f *Feed) describe(r *top.Row, record session.Record) {
	said := record.Authored()
	r.Title, r.Status, r.Proposal = f.line(record.Title), f.line(said.Status), f.line(said.Proposal)
	r.Said = f.line(said.Note)
	r.Set = record.Archived || record.Retired
	var marks []string
	for _, mark := range []struct {
		set  bool
		word string
	}{{record.Archived, "archived"}, {record.Retired, "retired"}, {record.Launching, "launching"}} {
		if mark.set {
			marks = append(marks, mark.word)
		}
	}
	r.Marks = strings.Join(marks, ", ")
}

// count tells what the session is owed. A file that makes no sense may be one that a
// dead process left half done, which Options.Debts completes.
func (f *Feed) count(ctx context.Context, r *top.Row, dir string) error {
	d, err := debts.Of(r.ID, dir)
	if errors.Is(err, queue.ErrCorrupt) {
		err = nil
		for _, wrong := range f.options.Debts(ctx, r.ID) {
			err = wrong
		}
		if err == nil {
			d, err = debts.Of(r.ID, dir)
		}
	}
	r.Owed, r.Unconfirmed, r.Handing, r.Since = d.Owed, d.Unconfirmed, d.Handing, d.EnqueuedAt
	r.Failed = f.line(d.LastError)
	return err
}

func (f *Feed) hostless(ctx context.Context, s *session.Session) string {
	if f.options.Hostless == nil {
		return ""
	}
	return f.line(f.options.Hostless(ctx, s))
}

// Debts returns what a session is owed: the oldest of it, if it is much.
func (f *Feed) Debts(ctx context.Context, id string) top.Debts {
	d := top.Debts{Session: id}
	for e, err := range f.options.Debts(ctx, id) {
		if err != nil {
			d.Bad = f.explain(id, err)
			break
		}
		if len(d.List) == debtsShown {
			break
		}
		from := "human"
		if e.From != "" {
			from = f.line(e.From)
		}
		d.List = append(d.List, top.Debt{
			MID: e.MID, Name: f.line(e.MID), From: from, Text: f.lines(e.Text, debtBytes), Since: e.EnqueuedAt,
			Attempts: e.Attempts, Last: e.LastAttempt, Why: f.line(e.LastError), Unconfirmed: e.Unconfirmed(), Handing: e.Handing,
		})
	}
	if len(d.List) > 0 && !d.List[0].Unconfirmed && !d.List[0].Handing {
		if s, err := f.options.Store.Open(id); err == nil { // the list stands without it
			d.List[0].Why = cmp.Or(f.hostless(ctx, s), d.List[0].Why)
			s.Release()
		}
	}
	return d
}

func (f *Feed) explain(id string, err error) string {
	return f.options.Line(f.options.Explain(id, err))
}

// line is the begin of a text as one line.
func (f *Feed) line(text string) string {
	if short := start(text, lineBytes); len(short) < len(text) {
		text = short + " ..."
	}
	return f.options.Line(text)
}

// lines is the begin of a text.
func (f *Feed) lines(text string, most int) string {
	short := start(text, most)
	shown := strings.TrimRight(f.options.Lines(short), "\n")
	if n := len(text) - len(short); n > 0 {
		shown += fmt.Sprintf("\n... and %d bytes more", n)
	}
	return shown
}

// start returns at most n bytes of text, and no part of a character.
func start(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
