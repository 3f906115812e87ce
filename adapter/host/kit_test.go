//go:build linux || darwin

package host_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		dir := newDir(t)
		agent := newFake()
		serve(t, dir, only(agent))
		record(t, dir)
		idle(t, dir)
		return adaptertest.Harness{
			Adapter:  hosttest.Patient{Client: host.NewClient(dir)},
			Received: func() ([]adapter.Prompt, error) { return agent.received(), nil },
			Refuse: func() error {
				agent.set(func(context.Context, adapter.Prompt, host.Sink) error { return adapter.Refuse(errors.New("no room")) })
				return nil
			},
			Restore: func() error { agent.set(nil); return nil },
			Hang: func() (func() bool, error) {
				begun := make(chan struct{})
				agent.set(func(ctx context.Context, _ adapter.Prompt, _ host.Sink) error {
					close(begun)
					<-ctx.Done()
					return adapter.Unconfirm(ctx.Err())
				})
				return func() bool {
					select {
					case <-begun:
						return true
					default:
						return false
					}
				}, nil
			},
		}
	})
}
