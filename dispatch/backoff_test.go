package dispatch_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/dispatch"
)

// Each distance lies between half a step and a whole one, the steps double, and
// neither leaves the bounds, however often a session fails.
func TestBackoffStaysOnItsLadder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		least := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(rt, "least"))
		most := least + time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(rt, "more"))
		random := rapid.Float64Range(0, 0.999).Draw(rt, "random")
		step := least
		for failures := 1; failures <= 70; failures++ {
			got := dispatch.Backoff(least, most, failures, random)
			if got < step/2 || got > step {
				rt.Fatalf("after %d failures: got %v, want between half of %v and all of it", failures, got, step)
			}
			if step = 2 * step; step > most {
				step = most
			}
		}
		rest := rapid.IntRange(71, 1<<40).Draw(rt, "many")
		if got := dispatch.Backoff(least, most, rest, random); got < most/2 || got > most {
			rt.Fatalf("after %d failures: got %v, want the ceiling %v", rest, got, most)
		}
	})
}

func TestBackoffSpreadsWhatFailedTogether(t *testing.T) {
	for failures := 1; failures <= 10; failures++ {
		early := dispatch.Backoff(time.Second, time.Minute, failures, 0.999)
		late := dispatch.Backoff(time.Second, time.Minute, failures, 0)
		if early >= late {
			t.Errorf("after %d failures: got %v for every random number, want different ones", failures, late)
		}
	}
}
