package host_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/host"
)

func TestPlanText(t *testing.T) {
	got := host.PlanText([]host.PlanStep{{"look", host.StepDone}, {"mend\n\x1b[31m", host.StepBusy}, {strings.Repeat("x", 1000), host.StepOpen}})
	if want := "[x] look\n[~] mend[31m\n[ ] " + strings.Repeat("x", 800) + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got = host.PlanText(slices.Repeat([]host.PlanStep{{"again", host.StepOpen}}, 10_000))
	if len(got) > 9<<10 || !strings.HasSuffix(got, "\n…\n") {
		t.Errorf("got %d bytes that end in %q, want a bounded plan that says so", len(got), got[len(got)-10:])
	}
	if got := host.PlanText(nil); got != "" {
		t.Errorf("got %q of no plan, want nothing", got)
	}
}
