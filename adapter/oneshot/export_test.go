package oneshot

import (
	"os"
	"strings"

	"github.com/docket-go/docket/adapter/host"
)

// Told maps a stream without a process, and returns what was emitted, whether it
// proves that the program began, and the end, if the stream has one.
func Told(p Preset, resumed bool, stream string) (values []host.Value, begun bool, end *host.Finished) {
	var a account
	m := p.mapper(past{goesOn: resumed})
	in := host.NewLines(strings.NewReader(stream), 1<<20)
	for !a.final {
		line, _, err := in.Next()
		if err != nil {
			break
		}
		m.take(line, &a)
	}
	for _, e := range a.waiting {
		values = append(values, e.value)
	}
	return values, a.begun, a.end
}

// UnreadKnown reports whether this system can say what the reader of a pipe has taken.
func UnreadKnown() bool {
	r, w, err := os.Pipe()
	if err != nil {
		return false
	}
	defer r.Close()
	defer w.Close()
	_, known := unread(w)
	return known
}

// Pid returns the id of the process that is at work.
func Pid(agent host.Agent) int {
	a := agent.(*Agent)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn.run.process.Pid()
}
