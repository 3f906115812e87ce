package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// answeredInWords has people answer the agent in words.
func answeredInWords(start host.Starter) host.Starter {
	return func(ctx context.Context, seat *host.Seat) (host.Agent, error) {
		a, err := start(ctx, seat)
		if err != nil {
			return nil, err
		}
		return &wordy{Agent: a}, nil
	}
}

// A wordy agent names the options of its permissions by the words that people are
// shown: the log keeps no other name, so an answer can be given by no other. Of two
// that are called the same the second has a number.
type wordy struct {
	host.Agent

	mu      sync.Mutex
	options map[string]map[string]string // by permission and word, what the program calls it
}

func (w *wordy) Submit(ctx context.Context, p adapter.Prompt, sink host.Sink) error {
	w.mu.Lock()
	w.options = map[string]map[string]string{}
	w.mu.Unlock()
	return w.Agent.Submit(ctx, p, wordySink{sink, w})
}

// Decide answers with the option that the word names.
func (w *wordy) Decide(ctx context.Context, permission, word string) error {
	w.mu.Lock()
	option, known := w.options[permission][word]
	w.mu.Unlock()
	decider, can := w.Agent.(host.Decider)
	if !known || !can {
		return fmt.Errorf("%w: %q with option %q", host.ErrNoPermission, permission, word)
	}
	return decider.Decide(ctx, permission, option)
}

// Details are those of the agent, if that can tell.
func (w *wordy) Details(permission string) string {
	if d, can := w.Agent.(host.Detailer); can {
		return d.Details(permission)
	}
	return ""
}

// Lookup asks the agent, if that can tell.
func (w *wordy) Lookup(ctx context.Context, mid string) (adapter.Presence, error) {
	if looker, can := w.Agent.(adapter.Looker); can {
		return looker.Lookup(ctx, mid)
	}
	return adapter.CannotTell, nil
}

// worded returns p with words for options, and remembers what they mean.
func (w *wordy) worded(p host.Permission) host.Permission {
	meaning := map[string]string{}
	options := make([]host.Option, 0, len(p.Options))
	for _, o := range p.Options {
		word := o.Name
		for n := 2; meaning[word] != ""; n++ { // ids are never empty
			word = fmt.Sprintf("%s %d", o.Name, n)
		}
		meaning[word] = o.ID
		options = append(options, host.Option{ID: word, Name: word, Grants: o.Grants})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.options[p.ID] = meaning
	p.Options = options
	return p
}

// A wordySink is the sink of one prompt of a wordy agent.
type wordySink struct {
	host.Sink
	wordy *wordy
}

func (s wordySink) Emit(n host.Native, v host.Value) {
	if p, ok := v.(host.Permission); ok {
		v = s.wordy.worded(p)
	}
	s.Sink.Emit(n, v)
}

// agentSays takes what the agent's program writes to its standard error, for people
// who want to see it.
func (c *call) agentSays() io.Writer {
	if !c.flags.Bool("verbose") {
		return nil
	}
	return &sayings{log: slog.New(c.logHandler()).With("session", c.report.subject)}
}

// sayings are lines that become log lines.
type sayings struct {
	log  *slog.Logger
	mu   sync.Mutex
	rest []byte // of a line that has not ended
}

// longSaying is where a line is cut that does not end.
const longSaying = 4096

func (s *sayings) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, text...)
	for {
		line, rest, ended := bytes.Cut(s.rest, []byte("\n"))
		if !ended {
			if len(s.rest) < longSaying {
				return len(text), nil
			}
			line, rest = s.rest[:longSaying], s.rest[longSaying:]
		}
		s.log.Debug("the agent says", "text", string(line))
		s.rest = bytes.Clone(rest)
	}
}
