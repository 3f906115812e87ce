package oneshot

import (
	"github.com/docket-go/docket/adapter/host"
)

const (
	maxID      = 200  // bytes of an id
	maxTools   = 1024 // calls of one process that are told apart
	maxWaiting = 4096 // values that one line, or all before the begin, may bring
)

// An account is what the events of one process have told so far.
type account struct {
	session string // the program's id of the conversation
	begun   bool   // the program works on the prompt
	trouble string // the last problem before that

	end   *host.Finished // nil while nothing has ended the turn
	final bool           // the end cannot be withdrawn any more

	waiting []emission // not yet emitted
	usage   host.Usage
	spent   *host.Usage // on the whole conversation, where a program tells that
	tools   map[string]host.Tool
}

// An emission is a value and the program's id of what it is part of.
type emission struct {
	item  string
	value host.Value
}

// converses notes the id of the conversation; the last one counts, since some programs
// give a new one each time.
func (a *account) converses(id string) {
	if id = host.Printable(id); id != "" && len(id) <= maxID {
		a.session = id
	}
}

// mayEnd ends the turn if nothing comes that goes on with it.
func (a *account) mayEnd(f host.Finished) { a.begun, a.end = true, &f }

// ends ends the turn.
func (a *account) ends(f host.Finished) {
	a.mayEnd(f)
	a.final = true
}

// goesOn withdraws an end that was none.
func (a *account) goesOn() { a.end = nil }

func (a *account) emit(item string, v host.Value) {
	if len(a.waiting) < maxWaiting {
		a.waiting = append(a.waiting, emission{host.Clip(host.Printable(item), maxID), v})
	}
}

func (a *account) text(item, text string) {
	if text != "" {
		a.emit(item, host.Text{Text: text})
	}
}

func (a *account) thought(item, text string) {
	if text != "" {
		a.emit(item, host.Thought{Text: text})
	}
}

// note is what people should know. What a program says of itself is kept only as far
// as [host.Redact] lets it.
func (a *account) note(s host.Severity, code, said string) {
	said = host.Redact(said)
	if said == "" && code == "" {
		return
	}
	if !a.begun {
		a.trouble = said
	}
	a.emit("", host.Diagnostic{Severity: s, Code: code, Text: said})
}

// tool is a step of a call. A later step need not name the tool again.
func (a *account) tool(id, name string, status host.ToolStatus) {
	id = host.Clip(host.Printable(id), maxID)
	call, known := a.tools[id]
	if !known {
		call.ID = id
	}
	if name != "" {
		call.Title, call.Class = titleOf(name), classOf(name)
	}
	if known && call.Status == status {
		return
	}
	call.Status = status
	if a.tools == nil {
		a.tools = map[string]host.Tool{}
	}
	if known || len(a.tools) < maxTools {
		a.tools[id] = call
	}
	a.emit(id, call)
}

// costs says what the turn has cost so far.
func (a *account) costs(u host.Usage) {
	if u.Total == 0 {
		u.Total = u.Input + u.Output
	}
	if u != a.usage {
		a.usage = u
		a.emit("", u)
	}
}

// costsMore adds to what the turn has cost.
func (a *account) costsMore(u host.Usage) {
	if u.Total == 0 {
		u.Total = u.Input + u.Output
	}
	sum := a.usage
	sum.Input += u.Input
	sum.Cached += u.Cached
	sum.Output += u.Output
	sum.Reasoning += u.Reasoning
	sum.Total += u.Total
	a.costs(sum)
}

func success() host.Finished { return host.Finished{Outcome: host.Success} }

// failure is an end by what the program said.
func failure(code, said string) host.Finished {
	return host.Finished{Outcome: host.Failure, Code: code, Diagnostic: host.Redact(said)}
}

// unknown is an end for a reason that this package does not know: no success.
func unknown() host.Finished {
	return host.Finished{Outcome: host.Failure, Code: CodeProtocol, Diagnostic: "the program ended the turn for a reason that is not known"}
}
