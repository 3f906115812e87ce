package race_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
)

// scripted is a contestant whose rounds have the given figures.
func scripted(name string, order *[]string, figures ...float64) race.Contestant {
	return race.Contestant{Name: name, Batch: 3, Open: func(context.Context, string) (*race.Runner, error) {
		round := -1 // the first one makes it warm
		return &race.Runner{Measure: func(int) (float64, error) {
			round++
			if round == 0 {
				return 1e9, nil
			}
			*order = append(*order, name)
			return figures[round-1], nil
		}}, nil
	}}
}

func options(t *testing.T, rounds int) race.Options {
	return race.Options{Dir: t.TempDir(), Rounds: rounds, Round: time.Millisecond}
}

func TestRoundsAreInterleaved(t *testing.T) {
	var order []string
	w := race.Workload{Name: "w", Contestants: []race.Contestant{
		scripted("a", &order, 1, 1, 1), scripted("b", &order, 1, 1, 1), scripted("c", &order, 1, 1, 1),
	}}
	if _, err := w.Run(t.Context(), options(t, 3)); err != nil {
		t.Fatal(err)
	}
	if want := strings.Fields("a b c a b c a b c"); !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
}

// The limit became three times slower in the third round, and so did the other: the
// ratio of each round stays, though that of the medians would not.
func TestRatiosAreTakenWithinARound(t *testing.T) {
	var order []string
	w := race.Workload{
		Name: "w", Limit: "limit",
		Contestants: []race.Contestant{scripted("limit", &order, 10, 30, 10), scripted("a", &order, 20, 60, 80)},
		Targets: []race.Target{
			{Of: "a", To: "limit", AtMost: 2}, {Of: "a", To: "limit", AtMost: 1.9},
			{Of: "a", To: "limit", AtLeast: 0.5}, {Of: "a", To: "limit", AtLeast: 0.6},
			{Of: "a", AtMost: 60}, {Of: "a", AtMost: 59},
		},
	}
	r, err := w.Run(t.Context(), options(t, 3))
	if err != nil {
		t.Fatal(err)
	}
	a := r.Rows[1]
	if a.Median != 60 || a.Min != 20 || a.Max != 80 || a.Ratio != 2 || a.Rounds != 3 || a.Operations != 3 {
		t.Errorf("got %+v", a)
	}
	for i, v := range r.Verdicts {
		if want := i%2 == 0; v.Met != want {
			t.Errorf("%s: got %g, met %t, want %t", v.Target, v.Got, v.Met, want)
		}
	}
}

// Where more is better, a part of the limit is a part of its figure.
func TestMoreIsBetter(t *testing.T) {
	var order []string
	w := race.Workload{
		Name: "w", Unit: race.Times, Limit: "limit",
		Contestants: []race.Contestant{scripted("limit", &order, 10), scripted("a", &order, 8)},
		Targets:     []race.Target{{Of: "a", To: "limit", AtLeast: 0.8}, {Of: "a", To: "limit", AtLeast: 0.81}},
	}
	r, err := w.Run(t.Context(), options(t, 1))
	if err != nil || !r.Verdicts[0].Met || r.Verdicts[1].Met {
		t.Errorf("got %+v, %v", r.Verdicts, err)
	}
}

// A contestant whose work was not done has no figure.
func TestWorkIsProven(t *testing.T) {
	lazy := race.Contestant{Name: "lazy", Open: func(context.Context, string) (*race.Runner, error) {
		return &race.Runner{
			Round: func(int) error { return nil },
			Check: func(n int) error { return fmt.Errorf("nothing of %t was done", n > 0) },
		}, nil
	}}
	_, err := race.Workload{Name: "w", Contestants: []race.Contestant{lazy}}.Run(t.Context(), options(t, 1))
	if want := "w: lazy: nothing of true was done"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAbsentContestant(t *testing.T) {
	var order []string
	absent := race.Contestant{Name: "absent", Open: func(context.Context, string) (*race.Runner, error) {
		return nil, fmt.Errorf("%w: not on this machine", race.ErrAbsent)
	}}
	w := race.Workload{
		Name: "w", About: "nothing", Limit: "absent",
		Contestants: []race.Contestant{absent, scripted("a", &order, 1)},
		Targets:     []race.Target{{Of: "a", To: "absent", AtMost: 2}, {Of: "absent", AtMost: 2}},
	}
	r, err := w.Run(t.Context(), options(t, 1))
	if err != nil || len(r.Verdicts) != 0 {
		t.Fatalf("got %+v, %v", r.Verdicts, err)
	}
	var b strings.Builder
	if err := r.Print(&b); err != nil || !strings.Contains(b.String(), "\n  absent  absent: not on this machine\n") {
		t.Errorf("got %v,\n%s", err, b.String())
	}
}

// Everybody who was opened is closed, whoever fails.
func TestAFailureClosesAll(t *testing.T) {
	broken := errors.New("broken")
	var closed []string
	one := func(name string, err error) race.Contestant {
		return race.Contestant{Name: name, Open: func(context.Context, string) (*race.Runner, error) {
			return &race.Runner{
				Round: func(int) error { return err },
				Close: func() error { closed = append(closed, name); return nil },
			}, nil
		}}
	}
	w := race.Workload{Name: "w", Contestants: []race.Contestant{one("a", nil), one("b", broken), one("c", nil)}}
	if _, err := w.Run(t.Context(), options(t, 1)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if want := []string{"a", "b"}; !slices.Equal(closed, want) {
		t.Errorf("closed: got %v, want %v", closed, want)
	}
}

func ExampleResult_Print() {
	r := race.Result{
		Workload: race.Workload{Name: "append", About: "write a line", Limit: "write"},
		Rows: []race.Row{
			{Contestant: "write", Median: 1520, Min: 980.4, Max: 20_000, Ratio: 1, Rounds: 5, Operations: 1000},
			{Contestant: "docket", Median: 4560, Min: 4000, Max: 1_234_567, Ratio: 3, Rounds: 5, Operations: 300},
		},
		Verdicts: []race.Verdict{{Target: race.Target{Of: "docket", To: "write", AtMost: 3.5}, Got: 3, Met: true}},
	}
	var b strings.Builder
	if err := errors.Join(r.Print(&b), r.Lines(&b)); err != nil {
		fmt.Println(err)
	}
	fmt.Print(b.String())
	// Output:
	// append: write a line
	//            median      min      max  ratio  rounds x operations
	//   write   1.52 µs   980 ns  20.0 µs  limit             5 x 1000
	//   docket  4.56 µs  4.00 µs  1.23 ms   3.00              5 x 300
	//   target: docket <= 3.5 x write: 3, met
	// {"workload":"append","contestant":"write","unit":"ns","median":1520,"min":980.4,"max":20000,"limit":"write","ratio":1,"rounds":5,"operations":1000}
	// {"workload":"append","contestant":"docket","unit":"ns","median":4560,"min":4000,"max":1234567,"limit":"write","ratio":3,"rounds":5,"operations":300}
	// {"workload":"append","target":"docket <= 3.5 x write","of":"docket","to":"write","atMost":3.5,"got":3,"met":true}
}

func ExampleResult_Markdown() {
	r := race.Result{
		Workload: race.Workload{Name: "append", About: "write a line, or a part|whole", Limit: "write"},
		Rows: []race.Row{
			{Contestant: "write", Median: 1520, Min: 980.4, Max: 20_000, Ratio: 1, Rounds: 5, Operations: 1000},
			{Contestant: "docket", Median: 4560, Min: 4000, Max: 1_234_567, Ratio: 3, Rounds: 5, Operations: 300},
			{Contestant: "jq", Absent: "absent: not on this machine"},
		},
		Verdicts: []race.Verdict{{Target: race.Target{Of: "docket", To: "write", AtMost: 3.5}, Got: 4}},
	}
	if err := r.Markdown(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// **append**: write a line, or a part\|whole.
	//
	// | | median | min | max | ratio |
	// |---|---:|---:|---:|---:|
	// | write | 1.52 µs | 980 ns | 20.0 µs | limit |
	// | docket | 4.56 µs | 4.00 µs | 1.23 ms | 3.00 |
	// | jq | absent: not on this machine |  |  |  |
	//
	// - docket &lt;= 3.5 x write: 4, NOT MET
}
