package surface_test

import "testing"

// BenchmarkInput is a message that is sent by HTTP, until it is accepted.
func BenchmarkInput(b *testing.B) {
	p := newPlace(b)
	b.ReportAllocs()
	for b.Loop() {
		if a := p.send("run the tests", ""); a.status != 202 || a.MID == "" {
			b.Fatalf("got %+v, want it accepted", a)
		}
	}
}

// BenchmarkPending shows what a session is owed: 500 messages, by HTTP.
func BenchmarkPending(b *testing.B) {
	p := newPlace(b)
	for range 500 {
		p.send("run the tests", "")
	}
	b.ReportAllocs()
	for b.Loop() {
		if a := p.ask("GET", "s1/pending", ""); len(a.Pending) != 500 {
			b.Fatalf("got %d messages, want 500", len(a.Pending))
		}
	}
}
