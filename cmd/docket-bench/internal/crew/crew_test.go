package crew_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
)

var roles = map[string]crew.Role{
	"double": func([]string) (crew.Worker, error) {
		return func(n int) (float64, error) { return 2 * float64(n), nil }, nil
	},
	"refuse": func(args []string) (crew.Worker, error) { return nil, errors.New("no " + args[0]) },
	"fail": func([]string) (crew.Worker, error) {
		return func(int) (float64, error) { return 0, errors.New("one\ntwo") }, nil
	},
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == crew.Verb {
		os.Exit(crew.Obey(roles[os.Args[2]], os.Args[3:], os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func TestEachChildDoesItsShare(t *testing.T) {
	c, err := crew.Start(t.Context(), 3, "double")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		figures, err := c.Work(7)
		if want := []float64{6, 6, 6}; err != nil || !slices.Equal(figures, want) {
			t.Errorf("got %v, %v, want %v", figures, err, want)
		}
	}
	if err := c.Order(5); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Answer(); got != 10 || err != nil {
		t.Errorf("got %g, %v, want 10", got, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestErrorsReachTheParent(t *testing.T) {
	_, err := crew.Start(t.Context(), 2, "refuse", "tools")
	if err == nil || !strings.Contains(err.Error(), "child: no tools") {
		t.Errorf("got %v, want what the child said", err)
	}
	c, err := crew.Start(t.Context(), 1, "fail")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Work(1); err == nil || err.Error() != "child: one; two" {
		t.Errorf("got %v, want child: one; two", err)
	}
	if c.Close() == nil {
		t.Error("a child that failed ended well")
	}
}
