package race

import (
	"fmt"
	"strings"
)

// A Target is what a contestant is to reach. Exactly one of AtMost and AtLeast is
// set.
type Target struct {
	Of string // the contestant
	To string // the one that it is compared with; empty means that the figure itself counts

	AtMost  float64 // the figure, or its quotient
	AtLeast float64 // the figure, or the performance as a part of that of To

	Note string // for people: what else has to be known
}

// A Verdict says whether a target was reached.
type Verdict struct {
	Target Target
	Got    float64
	Met    bool
}

// judge holds the target against the figures. It is false if one of the contestants
// did not take part.
func (t Target) judge(u Unit, lanes []*lane) (Verdict, bool) {
	of, to := find(lanes, t.Of), find(lanes, t.To)
	if of == nil || t.To != "" && to == nil {
		return Verdict{}, false
	}
	v := Verdict{Target: t}
	switch {
	case to == nil:
		v.Got = median(of.figures)
	case t.AtLeast != 0 && !u.More:
		v.Got = quotient(to.figures, of.figures)
	default:
		v.Got = quotient(of.figures, to.figures)
	}
	v.Met = t.AtMost != 0 && v.Got <= t.AtMost || t.AtLeast != 0 && v.Got >= t.AtLeast
	return v, true
}

// String says what is to be reached.
func (t Target) String() string { return t.text(Unit{}) }

func (t Target) text(u Unit) string {
	var b strings.Builder
	bound, sign := t.AtMost, "<="
	if t.AtLeast != 0 {
		bound, sign = t.AtLeast, ">="
	}
	fmt.Fprintf(&b, "%s %s ", t.Of, sign)
	switch {
	case t.To == "":
		b.WriteString(u.format(bound))
	case t.AtLeast != 0 && !u.More:
		fmt.Fprintf(&b, "%.4g x the rate of %s", bound, t.To)
	default:
		fmt.Fprintf(&b, "%.4g x %s", bound, t.To)
	}
	if t.Note != "" {
		fmt.Fprintf(&b, " (%s)", t.Note)
	}
	return b.String()
}

// got is the verdict's figure for people.
func (v Verdict) got(u Unit) string {
	if v.Target.To == "" {
		return u.format(v.Got)
	}
	return fmt.Sprintf("%.3g", v.Got)
}
