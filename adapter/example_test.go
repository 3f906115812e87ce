package adapter_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/adapter"
)

// printer is an adapter of an embedder: its harness is the standard output.
type printer struct{ open bool }

func (printer) Headless() bool { return true }

func (p printer) Insert(ctx context.Context, prompt adapter.Prompt) error {
	if err := ctx.Err(); err != nil {
		return adapter.Refuse(err) // nothing was printed yet
	}
	if !p.open {
		return adapter.Because(adapter.ErrGone, errors.New("the printer is off: switch it on"))
	}
	if _, err := fmt.Println(prompt.Text); err != nil {
		return adapter.Unconfirm(err) // a part of it may be out
	}
	return nil
}

var printerKind = adapter.Kind{
	Name:     "printer",
	Doc:      "prints every prompt",
	Settings: []adapter.Setting{{Name: "power", Default: "off", Allowed: "on or off", Canonical: adapter.OneOf("on", "off")}},
	Open: func(_ adapter.Session, settings map[string]string) (adapter.Adapter, error) {
		return printer{settings["power"] == "on"}, nil
	},
}

func ExampleRegistry_Open() {
	registry := adapter.Registry{printerKind}
	for _, settings := range []map[string]string{
		{"power": "on", "unconfirmed": "redeliver"},
		{},
		{"power": "high"},
		{"pwoer": "on"},
	} {
		o, err := registry.Open("printer", adapter.Session{ID: "worker-1"}, settings)
		if err != nil {
			fmt.Println(err)
			continue
		}
		err = o.Adapter.Insert(context.Background(), adapter.Prompt{MID: "m1", Session: "worker-1", Text: "run the tests"})
		fmt.Println(o.Policy, adapter.AnswerOf(err), err)
	}
	// Output:
	// run the tests
	// redeliver taken <nil>
	// hold refused the printer is off: switch it on
	// adapter printer: setting power: bad value "high": allowed: on or off
	// adapter printer: setting pwoer: unknown setting: allowed: one of power, unconfirmed
}

func ExampleAnswerOf() {
	fmt.Println(adapter.AnswerOf(nil))
	fmt.Println(adapter.AnswerOf(adapter.ErrBusy))
	fmt.Println(adapter.AnswerOf(adapter.Unconfirm(errors.New("typed, but not seen"))))
	fmt.Println(adapter.AnswerOf(context.DeadlineExceeded)) // unmarked: nothing is proven
	// Output:
	// taken
	// refused
	// unconfirmed
	// unconfirmed
}
