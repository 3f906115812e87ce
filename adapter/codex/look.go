package codex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/docket-go/docket/adapter"
)

// It is compiled when it is needed: a program that has this adapter mostly uses another.
var plainMID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`) })

// clientID returns the id under which codex stores the message with that mid. No two
// mids have the same.
func clientID(mid string) string {
	if plainMID().MatchString(mid) {
		return "docket-" + mid
	}
	digest := sha256.Sum256([]byte(mid))
	return "docket:" + hex.EncodeToString(digest[:])
}

// The parts of a turn that a list of turns can hold.
const (
	viewSummary = "summary" // the message that began it, and the answer
	viewFull    = "full"    // every item, so every message
)

const (
	summaryPage = 100
	fullPage    = 16
	maxPages    = 1 << 20 // a list that goes on behind this has no end
)

// A listed is a turn as codex lists it.
type listed struct {
	Items  []listedItem `json:"items"`
	Status string       `json:"status"`
}

type listedItem struct {
	Type   string `json:"type"`
	Client string `json:"clientId"`
}

// list shows the stored messages of a thread, newest turn first, until stop says so.
// Nil means that it has shown all or was stopped.
func (a *Agent) list(ctx context.Context, thread, view string, limit int, show func(client, status string) (stop bool)) error {
	var cursor *string
	seen := map[string]bool{}
	for range maxPages {
		var page struct {
			Data []listed `json:"data"`
			Next *string  `json:"nextCursor"`
		}
		params := map[string]any{"threadId": thread, "itemsView": view, "limit": limit, "sortDirection": "desc", "cursor": cursor}
		err := a.ask(ctx, methodTurns, params, &page)
		switch {
		case errors.Is(err, errTooLong) && limit > 1:
			limit /= 2
			continue
		case err != nil:
			return err
		case page.Data == nil:
			return fmt.Errorf("%w: %s: no data", errAnswer, methodTurns)
		}
		for _, t := range page.Data {
			for _, item := range t.Items {
				if item.Type == itemUserMessage && item.Client != "" && show(item.Client, t.Status) {
					return nil
				}
			}
		}
		if page.Next == nil {
			return nil
		}
		if cursor = page.Next; seen[*cursor] {
			break
		}
		seen[*cursor] = true
	}
	return fmt.Errorf("%w: %s: the list has no end", errAnswer, methodTurns)
}

// learn takes in which messages a thread has, so that none is sent a second time.
func (a *Agent) learn(ctx context.Context, thread string) error {
	found := map[string]string{}
	err := a.list(ctx, thread, viewSummary, summaryPage, func(client, status string) bool {
		if _, newer := found[client]; !newer {
			found[client] = status
		}
		return false
	})
	if err != nil && !errors.Is(err, errTooLong) {
		return err
	}
	a.with(func(s *state) { maps.Copy(s.known, found) })
	return nil
}

// ErrLost is why [Agent.Lookup] cannot tell: a thread of before may have the message,
// and nobody can see all of it any more.
var ErrLost = errors.New("codex: the message may be in an earlier thread, which codex cannot go on with: look there, and confirm the message")

// Lookup finds out whether codex has stored the message with that mid, by listing the
// messages of its thread; see [adapter.Looker]. It answers CannotTell while the message
// is on its way, when the thread cannot be listed, and for a message that is not there
// when a thread was lost before: codex lists what it was killed over only of a thread
// that it goes on with.
//
// Absent is proven: codex goes on with the thread, which it alone writes to, the host
// ends the program of a host that died before it starts another, and one message is on
// its way at most.
func (a *Agent) Lookup(ctx context.Context, mid string) (adapter.Presence, error) {
	client := clientID(mid)
	if p, certain := a.remembered(client); certain {
		return p, nil
	}
	var thread string
	var earlier []string
	a.with(func(s *state) { thread, earlier = s.thread, s.earlier })
	found, err := a.has(ctx, thread, client)
	for _, id := range earlier {
		if !found {
			found, _ = a.has(ctx, id, client)
		}
	}
	switch {
	case found:
		return adapter.Present, nil
	case err != nil:
		return adapter.CannotTell, err
	}
	if p, certain := a.remembered(client); certain { // it may have come meanwhile
		return p, nil
	}
	if len(earlier) > 0 {
		return adapter.CannotTell, fmt.Errorf("%w: %s", ErrLost, strings.Join(earlier, ", "))
	}
	return adapter.Absent, nil
}

// remembered says what is known of a message without a look.
func (a *Agent) remembered(client string) (p adapter.Presence, certain bool) {
	a.with(func(s *state) {
		switch _, there := s.known[client]; {
		case there:
			p, certain = adapter.Present, true
		case s.turn != nil && s.turn.client == client:
			p, certain = adapter.CannotTell, true
		}
	})
	return p, certain
}

// has reports whether a thread lists the message.
func (a *Agent) has(ctx context.Context, thread, client string) (found bool, err error) {
	err = a.list(ctx, thread, viewFull, fullPage, func(c, _ string) bool {
		found = found || c == client
		return found
	})
	return found, err
}
