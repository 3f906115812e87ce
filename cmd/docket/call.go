package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/exec"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/adapter/none"
	"github.com/docket-go/docket/adapter/oneshot"
	"github.com/docket-go/docket/adapter/opencode"
	"github.com/docket-go/docket/adapter/tmux"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// kinds are the adapters that are built in.
func kinds() adapter.Registry {
	return adapter.Registry{acp.Kind, codex.Kind, exec.Kind, file.Kind, none.Kind, oneshot.Kind, opencode.Kind, tmux.Kind}
}

// A call is one run of one verb: its arguments, where it reads and writes, and the
// store.
type call struct {
	verb    string
	hard    context.Context // what is being handed over ends with it
	flags   givenFlags
	args    []string
	literal int // args[literal:] came after "--"

	stdin  io.Reader
	out    *output
	report *reporter
	env    func(name string) string

	store    *session.Store
	kinds    adapter.Registry // those of kinds, whose inserts are waited for
	dispatch *dispatch.Dispatcher
	watches  *watching.Watches
}

// run opens the store, does the verb and gives everything back.
func (c *call) run(ctx context.Context, v verb) (err error) {
	if v.changes {
		outliveReaders()
	}
	if !v.brief {
		listening.Wait()
	}
	if len(c.args) < v.min || v.max >= 0 && len(c.args) > v.max {
		return c.miscounted(v)
	}
	dir := c.flags.String("store")
	if dir == "" {
		if dir, err = session.DefaultDir(); err != nil {
			return err
		}
	}
	if c.store, err = session.OpenStore(dir, session.Options{LockWait: c.lockWait()}); err != nil {
		return err
	}
	inserts := &handovers{soft: ctx, hard: c.hard, report: c.report}
	c.kinds = inserts.registry(kinds())
	c.dispatch = dispatch.New(c.store, dispatch.Options{Adapters: c.kinds})
	c.watches = watching.New(c.store, c.dispatch, watching.Options{})
	defer c.giveBack()
	return c.explained(v.run(ctx, c))
}

// giveBack closes what the dispatcher holds open. The verb has done its work by
// then, so an error does not change the status.
func (c *call) giveBack() {
	if err := c.dispatch.Close(); err != nil {
		c.report.line(c.report.subject, "done, but not everything could be given back: "+words(c.report.subject, err))
	}
}

// lockWait is how long to wait for a lock, as package lock takes it.
func (c *call) lockWait() time.Duration {
	wait := c.flags.Duration("lock-wait")
	if wait == 0 {
		return time.Nanosecond // one try
	}
	return wait
}

// miscounted says that there are too few arguments, or too many.
func (c *call) miscounted(v verb) error {
	n, use := len(c.args), strings.TrimSpace("use docket "+v.name+" "+v.args)
	if n < v.min {
		if n == 0 && c.env("DOCKET_SESSION") != "" {
			use += ", which takes no session from DOCKET_SESSION"
		}
		return &usageError{v.name, "an argument is missing: " + use}
	}
	if v.surplus != "" {
		use = v.surplus
	}
	if n -= v.max; n > 1 {
		return &usageError{v.name, fmt.Sprintf("%d arguments are too many: %s", n, use)}
	}
	return &usageError{v.name, "1 argument is too many: " + use}
}

// about names the session that the rest of the verb is about.
func (c *call) about(id string) string {
	c.report.subject = id
	return id
}

// own returns the session that args[0] names, or the caller's own.
func (c *call) own() (string, error) {
	if len(c.args) > 0 {
		return c.about(c.args[0]), nil
	}
	if id := c.env("DOCKET_SESSION"); id != "" {
		return c.about(id), nil
	}
	return "", &usageError{c.verb, "no session: name one, or set DOCKET_SESSION"}
}

// chosen returns the sessions that a verb with --all is about.
func (c *call) chosen(ctx context.Context) ([]string, error) {
	if !c.flags.Bool("all") {
		id, err := c.own()
		return []string{id}, err
	}
	if len(c.args) > 0 {
		return nil, &usageError{c.verb, "a session and --all: give one of the two"}
	}
	return c.all(ctx)
}

// missing says on standard error that there is no store yet, as who mistyped where it is
// would take it for an empty one.
func (c *call) missing() {
	if !c.hasStore() {
		c.report.line(c.report.subject, "there is no store at "+c.store.Dir()+" yet: docket new makes it; or see --store and DOCKET_HOME")
	}
}

// hasStore reports whether the store is there, or something else that cannot be read.
func (c *call) hasStore() bool {
	made, err := c.store.Made()
	return made || err != nil
}

// all returns every session of the store, in order.
func (c *call) all(ctx context.Context) ([]string, error) {
	c.missing()
	return c.ids(ctx)
}

// ids is all for who does not need to be told that there is no store.
func (c *call) ids(ctx context.Context) ([]string, error) {
	var ids []string
	for id, err := range c.store.IDs(ctx) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}

// with opens the session for f and gives it back.
func (c *call) with(id string, f func(s *session.Session) error) error {
	s, err := c.store.Open(id)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Release())
}

// pairs returns the values k=v of a flag that may be repeated.
func (c *call) pairs(flag string) (map[string]string, error) {
	given := c.flags.values[flag]
	if len(given) == 0 {
		return nil, nil
	}
	values := map[string]string{}
	for _, pair := range given {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || k == "" {
			return nil, &usageError{c.verb, fmt.Sprintf("--%s %q: give it as name=value", flag, pair)}
		}
		if _, twice := values[k]; twice {
			return nil, &usageError{c.verb, fmt.Sprintf("--%s %s is given twice: give it once", flag, k)}
		}
		values[k] = v
	}
	return values, nil
}

// cursor returns the cursor in a flag, and false if the flag was not given.
func (c *call) cursor(flag string) (timeline.Cursor, bool, error) {
	if !c.flags.IsSet(flag) {
		return timeline.Cursor{}, false, nil
	}
	cursor, err := timeline.ParseCursor(c.flags.String(flag))
	return cursor, true, err
}

// readAll returns standard input byte for byte. It reads little more than the
// limit of a text, so that what is too large is refused and not held.
func (c *call) readAll(ctx context.Context) (string, error) {
	type answer struct {
		text []byte
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(c.stdin, timeline.DefaultMaxTextBytes+1))
		read <- answer{text, err}
	}()
	select {
	case a := <-read:
		if a.err != nil {
			return "", fmt.Errorf("standard input: %w", a.err)
		}
		return string(a.text), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// textOf returns the text that the arguments from the given one on hold, joined by
// one blank; with none, or "-" alone, it is standard input.
func (c *call) textOf(ctx context.Context, from int) (string, error) {
	words := c.args[from:]
	switch {
	case len(words) == 0 && isTerminal(c.stdin):
		return "", &usageError{c.verb, "no text: give it after the session, or - to type it"}
	case len(words) == 0, len(words) == 1 && words[0] == "-" && c.literal > from:
		return c.readAll(ctx)
	}
	return strings.Join(words, " "), nil
}

// note returns the value of --note; "-" means standard input.
func (c *call) note(ctx context.Context) (string, error) {
	if note := c.flags.String("note"); note != "-" {
		return note, nil
	}
	return c.readAll(ctx)
}
