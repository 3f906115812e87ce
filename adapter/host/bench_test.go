//go:build linux || darwin

package host_test

import (
	"testing"

	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// BenchmarkPrompt is the way of a prompt: from the sender through the broker, past the
// recorder and to an agent without a program, and of its answer back to the recorder.
func BenchmarkPrompt(b *testing.B) {
	dir, ends := newDir(b), make(chan host.Finished, 1)
	agent := newFake()
	serve(b, dir, only(agent))
	d := record(b, dir, func(d *desk) {
		d.stall = func(e host.Emission) bool {
			if f, end := e.Value.(host.Finished); end {
				ends <- f
			}
			return true
		}
	})
	idle(b, dir)
	sender := hosttest.Patient{Client: host.NewClient(dir)}
	b.ReportAllocs()
	for b.Loop() {
		if err := sender.Insert(b.Context(), prompt("m1")); err != nil {
			b.Fatal(err)
		}
		if end := receive(b, "the end of the turn", ends); end != success {
			b.Fatalf("got %+v, want success", end)
		}
	}
	if got := len(d.emissions()); got != 2*b.N {
		b.Fatalf("got %d emissions, want %d", got, 2*b.N)
	}
}

// BenchmarkProbe asks a host whether it is idle, as each send does first.
func BenchmarkProbe(b *testing.B) {
	dir := newDir(b)
	serve(b, dir, only(newFake()))
	record(b, dir)
	idle(b, dir)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := host.NewClient(dir).Probe(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
