package acp

import (
	"context"
	"fmt"

	"github.com/docket-go/docket/adapter/host"
)

// Starter returns what starts the program for a [host.Broker]: the program is
// launched, greeted, and given a session, the one of before if it can load it.
func Starter(process host.ProcessOptions, o Options) host.Starter {
	return func(ctx context.Context, seat *host.Seat) (host.Agent, error) {
		o := o
		if o.Store == nil && seat.Session.Dir != "" {
			o.Store = FileStore{Dir: seat.Session.Dir, Program: process.Args}
		}
		if o.Dir == "" {
			o.Dir = process.Dir
		}
		p, err := seat.Launch(process)
		if err != nil {
			return nil, err
		}
		a, err := Open(ctx, p, seat, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", process.Args[0], err)
		}
		return a, nil
	}
}
