//go:build linux || darwin

package oneshot_test

import (
	"context"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// BenchmarkTurn is a whole turn: a program is started, reads the prompt, answers and ends.
func BenchmarkTurn(b *testing.B) {
	d := desk{hosttest.Desk{Dir: b.TempDir()}}
	a, err := d.start()(context.Background(), &host.Seat{Session: adapter.Session{ID: "s1", Dir: b.TempDir()}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	b.ReportAllocs()
	for b.Loop() {
		if s, end := turn(b, a, "run the tests"); end.Outcome != host.Success || len(s.Values()) == 0 {
			b.Fatalf("got %q and %+v, want an answer and success", all(s), end)
		}
	}
}

// BenchmarkTold reads what the programs print: an answer in 100 pieces.
func BenchmarkTold(b *testing.B) {
	const n = 100
	for name, tt := range map[string]struct {
		preset oneshot.Preset
		line   string
	}{
		"codex":    {oneshot.Codex, said("a few words of text")},
		"opencode": {oneshot.OpenCode, `{"type":"text","sessionID":"ses_1","part":{"id":"prt_3","type":"text","text":"a few words of text","time":{"start":1,"end":2}}}`},
	} {
		b.Run(name, func(b *testing.B) {
			stream := strings.Repeat(tt.line+"\n", n)
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				if values, _, _ := oneshot.Told(tt.preset, false, stream); len(values) != n {
					b.Fatalf("got %d values, want %d", len(values), n)
				}
			}
		})
	}
}
