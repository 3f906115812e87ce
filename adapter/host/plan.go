package host

import (
	"fmt"
	"strings"
)

const (
	maxPlan = 8 << 10 // bytes of a plan
	maxStep = 800     // of one of its steps
)

// A PlanStep is one step of what an agent is about to do.
type PlanStep struct {
	Text string
	Mark PlanMark
}

// A PlanMark says how far a step is.
type PlanMark string

const (
	StepOpen PlanMark = " "
	StepBusy PlanMark = "~" // at work
	StepDone PlanMark = "x"
)

// PlanText returns a plan as people write one, a line a step, at most about 8 KiB of it.
func PlanText(steps []PlanStep) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "[%s] %s\n", s.Mark, Clip(Printable(s.Text), maxStep))
		if b.Len() > maxPlan {
			b.WriteString(Hidden + "\n")
			break
		}
	}
	return b.String()
}
