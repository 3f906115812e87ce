package doctor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch/debts"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/session"
)

// sessions looks at each session once, says what is wrong with it, and counts.
func (e *examination) sessions() {
	if e.absent {
		return
	}
	e.tally.adapters = map[string]debtor{}
	held := holders()
	i := 0
	for id, err := range e.Store.IDs(e.ctx) {
		if e.over() {
			return
		}
		if err != nil {
			e.tally.unlisted = true
			e.problem("sessions", "ls -la "+quoted(e.Store.Dir()), "they cannot be listed: %v", err)
			return
		}
		if e.Progress != nil {
			e.Progress(i, id)
		}
		e.session(id, held)
		i++
	}
	for _, c := range []struct{ check, do string }{
		{"unsafe", "docket verify --all"}, {"record", "docket verify --all"}, {"queue", "docket verify --all"},
		{"adapter", "docket ls"}, {"host", "docket ls"}, {"unconfirmed", "docket pending --all"},
	} {
		e.rest(c.check, c.do)
	}
	e.summary()
}

func (e *examination) summary() {
	t := e.tally
	text := count(t.survey.Sessions, "session")
	for _, part := range []struct {
		n    int
		word string
	}{{t.archived, "archived"}, {t.retired, "retired"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.word)
		}
	}
	e.ok("sessions", "%s", text)
	if t.exposed > 0 {
		level := Note
		if e.open {
			level = Problem
		}
		e.say(Finding{Check: "permissions", Level: level, Do: "chmod -R go= " + quoted(e.Store.Dir()),
			Text: fmt.Sprintf("others may use %d of the files and directories of sessions, which should be yours alone, such as %s", t.exposed, t.firstExposed)})
	}
}

// session looks at one session.
func (e *examination) session(id string, held map[fileID]int) {
	s, err := e.Store.Open(id)
	var unsafe *session.UnsafeError
	switch {
	case errors.Is(err, session.ErrNotFound):
		return
	case errors.As(err, &unsafe):
		e.tally.survey.Add(debts.Debt{}, err, oldestNamed)
		e.about(Finding{Check: "unsafe", Level: Problem, Session: id, Text: unsafe.Path + ": " + unsafe.Reason, Do: "ls -ld " + quoted(unsafe.Path)})
		return
	case err != nil:
		e.tally.survey.Add(debts.Debt{}, err, oldestNamed)
		e.about(Finding{Check: "unsafe", Level: Problem, Session: id, Text: err.Error(), Do: "docket verify " + id})
		return
	}
	defer s.Release()
	rec, readable := e.record(s)
	e.debt(s, rec, readable)
	e.interruption(s)
	e.files(s, held)
	if readable {
		e.adapter(s, rec)
	}
}

// record reads the session's record.
func (e *examination) record(s *session.Session) (rec session.Record, readable bool) {
	rec, err := s.Record()
	switch {
	case errors.Is(err, lock.ErrClosed):
		return rec, false
	case err != nil:
		e.about(Finding{Check: "record", Level: Problem, Session: s.ID(), Corrupt: true,
			Text: "its record cannot be read, so that nothing is sent or declared: " + err.Error(), Do: "docket verify " + s.ID()})
		return rec, false
	}
	if rec.Archived {
		e.tally.archived++
	}
	if rec.Retired {
		e.tally.retired++
	}
	e.used[rec.Adapter]++
	return rec, true
}

// debt looks at what the session is owed.
func (e *examination) debt(s *session.Session, rec session.Record, readable bool) {
	d, err := debts.Of(s.ID(), s.Dir())
	if errors.Is(err, queue.ErrCorrupt) {
		e.about(Finding{Check: "queue", Level: Problem, Session: s.ID(), Corrupt: true,
			Text: "its queue cannot be read, so that nothing is sent or delivered: " + err.Error(), Do: "docket repair " + s.ID()})
	} else if err != nil && !errors.Is(err, lock.ErrClosed) {
		e.about(Finding{Check: "queue", Level: Problem, Session: s.ID(), Text: err.Error(), Do: "docket verify " + s.ID()})
	}
	e.tally.survey.Add(d, err, oldestNamed)
	if d.Owed == 0 {
		return
	}
	switch {
	case d.Handing:
		e.tally.atWork++
	case d.Unconfirmed:
		e.unconfirmed(s, rec, d)
	}
	// Only those that are still among the oldest need to be remembered.
	e.tally.adapters[s.ID()] = debtor{adapter: rec.Adapter, unread: !readable}
	for id := range e.tally.adapters {
		if !slices.ContainsFunc(e.tally.survey.Oldest, func(d debts.Debt) bool { return d.Session == id }) {
			delete(e.tally.adapters, id)
		}
	}
}

// unconfirmed says what to do about a message that somebody has to decide about.
func (e *examination) unconfirmed(s *session.Session, rec session.Record, d debts.Debt) {
	f := Finding{Check: "unconfirmed", Level: Problem, Session: s.ID(), MID: d.MID}
	f.Text = "it was handed over, and nobody knows whether the agent has it"
	if !d.Claimed.IsZero() {
		f.Text += ", for " + age(e.Now().Sub(d.Claimed))
	}
	if d.LastError != "" {
		f.Text += ": " + d.LastError
	}
	f.Do = fmt.Sprintf("docket confirm %s %s, or docket confirm %s %s --absent", s.ID(), d.MID, s.ID(), d.MID)
	idle, err := s.Locks().TryDelivery()
	if err == nil {
		err = idle.Release()
	}
	switch {
	case errors.Is(err, lock.ErrBusy):
		e.tally.atWork++
	case rec.Settings[adapter.PolicySetting] == adapter.Redeliver.String():
		f.Level, f.Do = Note, "docket drain "+s.ID()
		f.Text += ": the session's setting says that it is handed over again"
		e.about(f)
	default:
		e.about(f)
	}
}

// files looks at the modes of what is in the session's directory, at what was set
// aside, and at who holds a lock.
func (e *examination) files(s *session.Session, held map[fileID]int) {
	d, err := os.Open(s.Dir())
	if err != nil {
		return
	}
	defer d.Close()
	if info, err := d.Stat(); err == nil {
		e.exposure(s.Dir(), info)
	}
	for {
		entries, err := d.ReadDir(256)
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil {
				continue
			}
			path := filepath.Join(s.Dir(), entry.Name())
			e.exposure(path, info)
			if strings.Contains(entry.Name(), ".damaged-") {
				e.tally.aside++
				e.tally.firstAside = path
			}
			if pid, is := held[idOf(info)]; is && isRecordLock(entry.Name()) {
				e.suspect(stuck{s.ID(), s.Dir(), pid})
			}
		}
		if err != nil && !errors.Is(err, io.EOF) || len(entries) == 0 {
			return
		}
	}
}

// exposure counts what others may read; sockets are guarded by who connects.
func (e *examination) exposure(path string, info os.FileInfo) {
	if !hasPermissions || info.Mode().Perm()&0o077 == 0 || !info.Mode().IsRegular() && !info.IsDir() {
		return
	}
	e.tally.exposed++
	e.tally.firstExposed = path
}
