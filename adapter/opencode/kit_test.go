package opencode_test

import (
	"net/http"
	"testing"

	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/opencode"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, join := range map[string]bool{"wait": false, "join": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			adaptertest.Run(t, func(t *testing.T) adaptertest.Harness { return onServer(t, startServer(t), join) })
		})
	}
}

func onServer(t *testing.T, s *server, join bool) adaptertest.Harness {
	refuse, restore := func(s *server) { s.busy = map[string]string{"type": "busy"} }, func(s *server) { s.busy = nil }
	if join {
		refuse, restore = func(s *server) { s.status = http.StatusUnauthorized }, func(s *server) { s.status = 0 }
	}
	return adaptertest.Harness{
		Adapter:  open(t, t.TempDir(), opencode.Options{URL: s.http.URL, Join: join}),
		Received: s.received,
		Refuse:   func() error { s.change(refuse); return nil },
		Restore:  func() error { s.change(restore); return nil },
		Hang: func() (func() bool, error) {
			began := make(chan struct{})
			s.change(func(s *server) { s.hang = began })
			return func() bool {
				select {
				case <-began:
					return true
				default:
					return false
				}
			}, nil
		},
		Patience: patience,
	}
}
