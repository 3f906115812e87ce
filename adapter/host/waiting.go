package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxDetails bounds what is told of one request for permission.
const maxDetails = 64 << 10

// A Detailer is a [Decider] that can tell what exactly it asks permission for.
type Detailer interface {
	// Details must return what the program said of a permission that waits for an
	// answer, for people (see [DetailsOf]), and nothing if it does not know that
	// permission. It must not wait for the program.
	Details(permission string) string
}

// A Waiting is a request for permission that waits for an answer.
type Waiting struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Options []string `json:"options"` // as [Client.Decide] takes them

	// Details are for a person who looks now. They must not be kept.
	Details string `json:"details"`
}

// waiting tells what the open turn asks permission for.
func (b *Broker) waiting() (frame, error) {
	list := []Waiting{}
	var agent Agent
	b.with(func(s *state) {
		t := s.open()
		if t == nil {
			return
		}
		agent = t.agent.Agent
		for _, id := range sortedKeys(t.pending) {
			w := Waiting{ID: id, Title: t.pending[id].Title}
			for _, o := range t.pending[id].Options {
				w.Options = append(w.Options, o.ID)
			}
			list = append(list, w)
		}
	})
	if d, can := agent.(Detailer); can {
		for i := range list {
			list[i].Details = shorten(d.Details(list[i].ID))
		}
	}
	value, err := json.Marshal(list)
	if err != nil {
		return frame{}, fmt.Errorf("host: %w", err)
	}
	return frame{Type: askedFrame, Value: value}, nil
}

// shorten cuts details that are too long, and says so behind them: nobody is to allow
// what he saw a part of for the whole.
func shorten(details string) string {
	shown := clip(details, maxDetails)
	if more := len(details) - len(shown); more > 0 {
		shown += fmt.Sprintf("\n(%d bytes more are not shown)", more)
	}
	return shown
}

// Asks returns what the agent asks permission for at this moment, with the details that
// are kept nowhere. The error is [ErrNoHost] when there is no host, [ErrSilent] when it
// does not answer, and [ErrProtocol] when it is one of an earlier version, which cannot
// tell.
func (c *Client) Asks(ctx context.Context) (list []Waiting, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerWait(), ErrSilent)
	defer cancel()
	f, err := c.ask(ctx, frame{Type: asksFrame}, askedFrame)
	if err != nil {
		return nil, err
	}
	if err := strict(f.Value, &list); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return list, nil
}

// DetailsOf returns the fields of a JSON object for people, each in a line of its own
// with its name, in the order of the names. Further lines of a text are indented, and a
// name that is more than a word is quoted, so that no field looks like another. Null fields
// are left out, and those that are named. Anything but an object is returned as it is.
func DetailsOf(params json.RawMessage, but ...string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(params, &all) != nil || all == nil {
		return string(params)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if value := all[name]; string(value) != "null" && !slices.Contains(but, name) {
			lines = append(lines, word(name)+": "+strings.ReplaceAll(plainly(value), "\n", "\n  "))
		}
	}
	return strings.Join(lines, "\n")
}

// word is a name, in quotes if it is more than a word.
func word(name string) string {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' }
	if name == "" || strings.ContainsFunc(name, other) {
		return strconv.Quote(name)
	}
	return name
}

// plainly is a text without its quotes, and any other value as JSON in one line.
func plainly(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var flat bytes.Buffer
	if json.Compact(&flat, value) != nil {
		return string(value)
	}
	return flat.String()
}
