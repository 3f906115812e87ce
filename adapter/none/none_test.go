package none_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/none"
)

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(*testing.T) adaptertest.Harness {
		return adaptertest.Harness{Adapter: none.New(), NeverTakes: true}
	})
}

func TestRefusalSaysWhatToDo(t *testing.T) {
	o, err := adapter.Registry{none.Kind}.Open("none", adapter.Session{ID: "s1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = o.Adapter.Insert(t.Context(), adapter.Prompt{Session: "s1", Text: "x"})
	if !errors.Is(err, adapter.ErrGone) || adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("got %v, want a refusal that is ErrGone", err)
	}
	if err == nil || !strings.Contains(err.Error(), "docket drain s1 --adapter") {
		t.Errorf("got %v, want the command to use", err)
	}
}

func ExampleNew() {
	err := none.New().Insert(context.Background(), adapter.Prompt{MID: "m1", Session: "worker-1", Text: "go on"})
	fmt.Println(adapter.AnswerOf(err))
	fmt.Println(err)
	// Output:
	// refused
	// session worker-1 has no adapter, so everything stays owed: hand it over with docket drain worker-1 --adapter NAME
}
