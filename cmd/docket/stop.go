package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/docket-go/docket/adapter"
)

// signals returns two contexts: a first SIGINT or SIGTERM ends soft, after which
// nothing new is started, and a second one ends hard, after which nothing is waited
// for. A third one ends the process.
//
// That holds once listening was waited for. To hear takes the system a fifth of a
// millisecond, in which a brief verb reads most of what it prints; until then a signal
// ends the process at once, as it does before main begins.
func signals() (soft, hard context.Context) {
	soft, ask := context.WithCancel(context.Background())
	hard, insist := context.WithCancel(context.Background())
	came := make(chan os.Signal, 2)
	listening.Go(func() { signal.Notify(came, os.Interrupt, syscall.SIGTERM) })
	go func() {
		<-came
		ask()
		<-came
		signal.Stop(came)
		insist()
	}()
	return soft, hard
}

// listening is what has to be waited for before a signal may not break anything off.
var listening sync.WaitGroup

// outliveReaders keeps the process alive when it writes to a pipe that nobody reads
// any more, which is an error of that write then.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// handovers are the inserts that this process makes. Each goes on when soft ends,
// and says so, and is called off when hard does.
type handovers struct {
	soft, hard context.Context
	report     *reporter
}

// registry returns kinds whose adapters are used so.
func (h *handovers) registry(kinds adapter.Registry) adapter.Registry {
	patient := slices.Clone(kinds)
	for i, k := range kinds {
		patient[i].Open = func(s adapter.Session, settings map[string]string) (adapter.Adapter, error) {
			a, err := k.Open(s, settings)
			if err != nil {
				return nil, err
			}
			return patientAdapter{adapter.Use(k.Name, a), h}, nil
		}
	}
	return patient
}

// A patientAdapter is an adapter whose inserts are waited for.
type patientAdapter struct {
	opened    adapter.Opened
	handovers *handovers
}

func (p patientAdapter) Headless() bool { return p.opened.Adapter.Headless() }

func (p patientAdapter) Policy() adapter.Policy { return p.opened.Policy }

func (p patientAdapter) Close() error { return p.opened.Close() }

func (p patientAdapter) Sanitise(text string) string { return p.opened.Sanitise(text) }

func (p patientAdapter) Probe(ctx context.Context) (adapter.State, error) { return p.opened.Probe(ctx) }

func (p patientAdapter) Lookup(ctx context.Context, mid string) (adapter.Presence, error) {
	return p.opened.Lookup(ctx, mid)
}

func (p patientAdapter) Insert(_ context.Context, prompt adapter.Prompt) error {
	h := p.handovers
	if err := h.soft.Err(); err != nil {
		return adapter.Refuse(fmt.Errorf("not started: %w", err))
	}
	defer context.AfterFunc(h.soft, func() {
		h.report.line(prompt.Session, "waiting for the agent to take message "+prompt.MID+
			": interrupt again to stop at once, which leaves it unconfirmed")
	})()
	return p.opened.Adapter.Insert(h.hard, prompt)
}
