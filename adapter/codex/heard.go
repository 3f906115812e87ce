package codex

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/docket-go/docket/adapter/host"
)

// Names of the [host.State] that an agent publishes.
const (
	StateSession = "session" // codex's id of the thread
	StateAgent   = "agent"   // name and version of the program
	StateModel   = "model"   // the model that it asks
	StateContext = "context" // tokens in the context, and how many fit: used/size
)

// The notifications that are understood; all others are passed over.
const (
	noteTurnStarted   = "turn/started"
	noteTurnCompleted = "turn/completed"
	noteItemStarted   = "item/started"
	noteItemCompleted = "item/completed"
	noteMessageDelta  = "item/agentMessage/delta"
	noteSummaryDelta  = "item/reasoning/summaryTextDelta"
	noteThoughtDelta  = "item/reasoning/textDelta"
	notePlan          = "turn/plan/updated"
	noteUsage         = "thread/tokenUsage/updated"
	noteStatus        = "thread/status/changed"
	noteError         = "error"
	noteRerouted      = "model/rerouted"
	noteResolved      = "serverRequest/resolved"
)

// A noted is whatever part of a notification is understood.
type noted struct {
	Thread string     `json:"threadId"`
	TurnID string     `json:"turnId"`
	ItemID string     `json:"itemId"`
	Delta  string     `json:"delta"`
	Turn   ended      `json:"turn"`
	Item   item       `json:"item"`
	Plan   []planStep `json:"plan"`
	Usage  usage      `json:"tokenUsage"`
	Status struct {
		Type string `json:"type"`
	} `json:"status"`
	Error     turnError       `json:"error"`
	WillRetry bool            `json:"willRetry"`
	ToModel   string          `json:"toModel"`
	Request   json.RawMessage `json:"requestId"`
}

// heard handles a notification. One of another thread is passed over, and so is
// whatever part of it has another type than is known.
func (a *Agent) heard(method string, params json.RawMessage) {
	var n noted
	_ = json.Unmarshal(params, &n)
	a.with(func(s *state) {
		if n.Thread == "" || n.Thread != s.thread {
			return
		}
		switch {
		case method == noteTurnStarted || method == noteTurnCompleted || method == noteStatus:
			s.moved(method, n)
		case method == noteRerouted:
			a.publish(StateModel, n.ToModel)
		case s.turn != nil && s.turn.line != nil:
			s.turned(s.turn, method, n)
		}
	})
}

// moved handles where a turn begins or ends.
func (s *state) moved(method string, n noted) {
	t := s.turn
	switch method {
	case noteTurnStarted:
		if n.Turn.ID == "" {
			return
		}
		s.running = n.Turn.ID
		if t != nil && t.id == n.Turn.ID {
			s.work(t)
		}
	case noteTurnCompleted:
		if n.Turn.ID == "" {
			return
		}
		if s.running == n.Turn.ID {
			s.running = ""
		}
		s.over = completed{n.Turn}
		if t != nil && t.id == n.Turn.ID {
			s.complete(t, s.over)
		}
	case noteStatus:
		if n.Status.Type == "idle" || n.Status.Type == "systemError" {
			s.running = ""
		}
	}
}

// turned handles what belongs to a turn.
func (s *state) turned(t *turn, method string, n noted) {
	if method == noteItemCompleted && n.Item.Type == itemUserMessage {
		s.stored(t, n)
		return
	}
	if method == noteResolved {
		t.resolved(n.Request)
		return
	}
	if !t.accepted() || n.TurnID != t.id {
		return
	}
	switch method {
	case noteItemStarted:
		t.show(n.Item, false)
	case noteItemCompleted:
		t.show(n.Item, true)
	case noteMessageDelta:
		t.delta(n.ItemID, n.Delta, false)
	case noteSummaryDelta, noteThoughtDelta:
		t.delta(n.ItemID, n.Delta, true)
	case notePlan:
		t.pieces.Flush()
		t.emit("", host.Thought{Text: planText(n.Plan)})
	case noteUsage:
		t.spend(n.Usage)
	case noteError:
		if n.WillRetry {
			t.pieces.Flush()
			t.emit("", host.Diagnostic{Severity: host.Warning, Code: CodeRetry, Text: n.Error.said()})
		}
	}
}

// stored handles codex's word that it has a message.
func (s *state) stored(t *turn, n noted) {
	switch {
	case n.TurnID == "":
	case n.Item.Client == t.client:
		s.known[t.client] = statusRunning
		s.accept(t, n.TurnID)
	case n.Item.Client == "" && n.TurnID == t.id:
		s.abandon(t, fmt.Errorf("%w: it does not keep the ids of messages", ErrVersion))
	}
}

type planStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

var planMarks = map[string]host.PlanMark{"inProgress": host.StepBusy, "completed": host.StepDone}

func planText(plan []planStep) string {
	steps := make([]host.PlanStep, len(plan))
	for i, p := range plan {
		steps[i] = host.PlanStep{Text: p.Step, Mark: cmp.Or(planMarks[p.Status], host.StepOpen)}
	}
	return host.PlanText(steps)
}

// A usage is what codex says that a thread has cost.
type usage struct {
	Total  tokens `json:"total"` // since the thread began
	Last   tokens `json:"last"`  // of the last request to the model
	Window uint64 `json:"modelContextWindow"`
}

type tokens struct {
	Total     uint64 `json:"totalTokens"`
	Input     uint64 `json:"inputTokens"`
	Cached    uint64 `json:"cachedInputTokens"`
	Output    uint64 `json:"outputTokens"`
	Reasoning uint64 `json:"reasoningOutputTokens"`
}

// less returns what was added since before.
func (t tokens) less(before tokens) tokens {
	sub := func(a, b uint64) uint64 { return a - min(a, b) }
	return tokens{
		sub(t.Total, before.Total), sub(t.Input, before.Input), sub(t.Cached, before.Cached),
		sub(t.Output, before.Output), sub(t.Reasoning, before.Reasoning),
	}
}

// spent is what the thread had cost before the turn.
type spent struct{ before tokens }

// spend emits what the turn has cost so far.
func (t *turn) spend(u usage) {
	if t.spent == nil {
		t.spent = &spent{u.Total.less(u.Last)}
	}
	cost := u.Total.less(t.spent.before)
	t.pieces.Flush()
	t.emit("", host.Usage{Input: cost.Input, Cached: cost.Cached, Output: cost.Output, Reasoning: cost.Reasoning, Total: cost.Total})
	if u.Window > 0 {
		t.a.publish(StateContext, fmt.Sprintf("%d/%d", u.Last.Total, u.Window))
	}
}

// publish says a fact about the session; an empty one is none.
func (a *Agent) publish(name, value string) {
	if value = host.Clip(host.Printable(value), 4*maxTitle); value != "" {
		a.seat.Publish(host.State{Name: name, Value: value})
	}
}

// tooLong says whether a message that is too long to be read may be passed over: not the
// end of a turn. It notes that a notification was.
func (a *Agent) tooLong(id json.RawMessage, method string) (pass bool) {
	if method == "" || id != nil || method == noteTurnCompleted {
		return method != noteTurnCompleted
	}
	a.with(func(s *state) {
		if t := s.turn; t != nil && t.accepted() && !t.unread {
			t.unread = true
			t.pieces.Flush()
			t.emit("", host.Diagnostic{Severity: host.Warning, Code: CodeUpdateLost, Text: "a notification of codex was too long to be read"})
		}
	})
	return true
}
