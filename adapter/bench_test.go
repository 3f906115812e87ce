package adapter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docket-go/docket/adapter"
)

// instant takes everything at once.
type instant struct{}

func (instant) Headless() bool                               { return false }
func (instant) Insert(context.Context, adapter.Prompt) error { return nil }

// BenchmarkOpen opens an adapter with two settings.
func BenchmarkOpen(b *testing.B) {
	r := adapter.Registry{{
		Name:     "instant",
		Settings: []adapter.Setting{{Name: "url", Required: true}, {Name: "model", Default: "small"}},
		Open:     func(adapter.Session, map[string]string) (adapter.Adapter, error) { return instant{}, nil },
	}}
	settings := map[string]string{"url": "http://127.0.0.1:1", "model": "large"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Open("instant", adapter.Session{ID: "s1"}, settings); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnswerOf reads the answer of an adapter out of its error.
func BenchmarkAnswerOf(b *testing.B) {
	for name, err := range map[string]error{
		"taken": nil, "refused": adapter.Because(adapter.ErrBusy, errors.New("a turn is running")), "unconfirmed": adapter.Unconfirm(errors.New("the line went dead")),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got := adapter.AnswerOf(err).String(); got != name {
					b.Fatalf("got %s, want %s", got, name)
				}
			}
		})
	}
}
