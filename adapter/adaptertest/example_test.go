package adaptertest_test

import (
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
)

// A test of an adapter calls Run and gives it a fresh adapter with its program
// for every case. Here the program is a slice.
func ExampleRun() {
	testMemory := func(t *testing.T) {
		adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
			m := &memory{}
			return adaptertest.Harness{
				Adapter:  m,
				Received: func() ([]adapter.Prompt, error) { return m.received(), nil },
				MaxBytes: 200_000,
			}
		})
	}
	_ = testMemory
}
