package oneshot_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// TestHostileStreams puts garbage between the events of a turn.
func TestHostileStreams(t *testing.T) {
	for name, garbage := range map[string][]string{
		"no JSON":         {"hello", "{", "}", "[]", "null", "\"turn.completed\"", "{\"type\":", "\x00\x1b[31m"},
		"wrong kinds":     {`{"type":1}`, `{"type":"item.completed","item":7}`, `{"type":"item.completed","item":{"id":[],"type":"agent_message","text":{}}}`, `{"type":["turn.completed"]}`},
		"invalid UTF-8":   {"{\"type\":\"item.completed\",\"item\":{\"id\":\"a\xff\",\"type\":\"agent_message\",\"text\":\"b\xff\"}}", "\xff\xfe"},
		"empty":           {"", " ", "{}"},
		"deep":            {strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000)},
		"unknown":         {`{"type":"turn.paused"}`, `{"type":"item.completed","item":{"type":"hologram"}}`},
		"many tools":      manyTools(3000),
		"another's begin": {threadStarted, turnStarted, `{"type":"thread.started","thread_id":"` + strings.Repeat("x", 10_000) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			script := append(append([]string{"read"}, garbage...), threadStarted, turnStarted)
			script = append(append(script, garbage...), said("whole"), turnCompleted)
			f.script(append(script, garbage...)...)
			s, end := turn(t, f.open(oneshot.Codex, oneshot.Options{}), "go")
			if end.Outcome != host.Success || !strings.Contains(strings.Join(all(s), "\n"), "text whole") {
				t.Errorf("got %d values and %+v, want the text and success", len(all(s)), end)
			}
			for _, v := range all(s) {
				if !utf8.ValidString(v) {
					t.Errorf("got %q, want valid UTF-8", v)
				}
			}
		})
	}
}

func manyTools(n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"type":"item.started","item":{"id":"%d","type":"command_execution"}}`, i))
	}
	return lines
}

// TestLongLines has lines of 64 MiB that are passed over in bounded memory, and an end
// that is too long but known by its beginning.
func TestLongLines(t *testing.T) {
	f := newFake(t)
	f.script("read", threadStarted, turnStarted, "zeros 67108864", said("after"), "zeros 67108864", "zeros 0", "",
		`{"type":"turn.completed","more":"`+strings.Repeat("x", 3<<20)+`"}`)
	a := f.open(oneshot.Codex, oneshot.Options{MaxLineBytes: 1 << 20})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, end := turn(t, a, "go")
	runtime.ReadMemStats(&after)
	if end.Outcome != host.Success || !strings.Contains(strings.Join(all(s), "\n"), oneshot.CodeUpdateLost) {
		t.Errorf("got %q and %+v, want success and that something was lost", all(s), end)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("got %d bytes allocated, want that lines are not kept", grown)
	}
}

// TestHalfLine has a program that dies inside an event.
func TestHalfLine(t *testing.T) {
	whole := strings.Join([]string{threadStarted, turnStarted, said("text"), turnCompleted}, "\n") + "\n"
	for cut := range len(whole) {
		_, _, end := oneshot.Told(oneshot.Codex, false, whole[:cut])
		if end != nil {
			t.Errorf("cut at %d: got %+v, want no end", cut, end)
		}
	}
	if _, _, end := oneshot.Told(oneshot.Codex, false, whole); end == nil || end.Outcome != host.Success {
		t.Errorf("whole: got %+v, want success", end)
	}
}

func FuzzPresets(f *testing.F) {
	for _, tt := range streams {
		f.Add(tt.preset.Name, tt.stream)
	}
	f.Add("pi", `{"type":"agent_end","message":{"stopReason":"stop"}}`)
	f.Fuzz(func(t *testing.T, name, stream string) {
		p, err := oneshot.Find(name)
		if err != nil {
			return
		}
		values, begun, end := oneshot.Told(p, len(stream)%2 == 0, stream+"\n")
		if end != nil && end.Outcome == "" {
			t.Errorf("got %+v, want an outcome", end)
		}
		if end != nil && end.Outcome == host.Success && !begun {
			t.Errorf("got success of a turn that did not begin")
		}
		for _, v := range values {
			switch v := v.(type) {
			case host.Tool:
				if v.Status == "" || len(v.ID) > 200 || len(v.Title) > 200 {
					t.Errorf("got %+v, want a bounded call with a status", v)
				}
			case host.Diagnostic:
				if len(v.Text) > 200 || v.Severity == "" {
					t.Errorf("got %+v, want a bounded diagnostic", v)
				}
			}
		}
	})
}
