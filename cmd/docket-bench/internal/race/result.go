package race

import (
	"slices"
)

// A Result is what a race showed.
type Result struct {
	Workload Workload
	Rows     []Row
	Verdicts []Verdict
}

// A Row is what is known of one contestant.
type Row struct {
	Contestant       string
	Absent           string // why it did not take part; empty if it did
	Median, Min, Max float64
	Ratio            float64 // to the limit, the median over the rounds; 0 without a limit
	Rounds           int
	Operations       int // in one round
}

func (w Workload) result(lanes []*lane) Result {
	r := Result{Workload: w}
	limit := find(lanes, w.Limit)
	for _, l := range lanes {
		row := Row{Contestant: l.contestant.Name, Rounds: len(l.figures), Operations: l.batch}
		if l.absent != nil {
			row.Absent = l.absent.Error()
			r.Rows = append(r.Rows, row)
			continue
		}
		row.Median, row.Min, row.Max = median(l.figures), slices.Min(l.figures), slices.Max(l.figures)
		if limit != nil {
			row.Ratio = quotient(l.figures, limit.figures)
		}
		r.Rows = append(r.Rows, row)
	}
	for _, t := range w.Targets {
		if v, ok := t.judge(w.Unit, lanes); ok {
			r.Verdicts = append(r.Verdicts, v)
		}
	}
	return r
}

// find returns the lane of the contestant with that name, or nil if none takes part.
func find(lanes []*lane, name string) *lane {
	for _, l := range lanes {
		if l.contestant.Name == name && l.absent == nil {
			return l
		}
	}
	return nil
}

func median(figures []float64) float64 {
	s := slices.Sorted(slices.Values(figures))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// quotient is the median of a/b of each round.
func quotient(a, b []float64) float64 {
	q := make([]float64, len(a))
	for i := range a {
		if b[i] != 0 {
			q[i] = a[i] / b[i]
		}
	}
	return median(q)
}
