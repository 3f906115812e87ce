package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/docket-go/docket/adapter/host"
)

const (
	itemUserMessage = "userMessage"
	itemMessage     = "agentMessage"
	itemReasoning   = "reasoning"
)

const maxTitle = 200 // bytes of a title or an id

// An item is whatever part of an item of a thread is understood. Output, diffs,
// arguments and results are not even read.
type item struct {
	Type    string   `json:"type"`
	ID      string   `json:"id"`
	Client  string   `json:"clientId"`
	Text    string   `json:"text"`
	Status  string   `json:"status"`
	Summary []string `json:"summary"`
	Command string   `json:"command"`
	Actions []action `json:"commandActions"`
	Server  string   `json:"server"`

	Content json.RawMessage `json:"content"` // texts of a thought; something else of other items
	Tool    json.RawMessage `json:"tool"`    // a name, or a newer server's description
	Changes json.RawMessage `json:"changes"` // only counted
}

// An action is codex's reading of a part of a command.
type action struct {
	Type    string `json:"type"`
	Command string `json:"command"`
}

// said is how much of an item was already emitted.
type said struct {
	item  string
	bytes int
}

// delta adds to what the agent says or thinks.
func (t *turn) delta(item, text string, thought bool) {
	if t.said.item != item {
		t.said = said{item: item}
	}
	t.said.bytes += len(text)
	t.pieces.Say(text, item, thought)
}

// show emits what an item is, when it begins or ends.
func (t *turn) show(i item, over bool) {
	switch i.Type {
	case itemMessage:
		if over {
			t.rest(i.ID, i.Text, false)
		}
	case itemReasoning:
		if over {
			t.rest(i.ID, i.thought(), true)
		}
	default:
		if tool, known := i.tool(over); known {
			t.pieces.Flush()
			t.emit(i.ID, tool)
		}
	}
}

// rest emits what of a whole text was not emitted piece by piece.
func (t *turn) rest(item, text string, thought bool) {
	n := 0
	if t.said.item == item {
		n = t.said.bytes
	}
	switch {
	case n == 0:
		t.pieces.Say(text, item, thought)
	case !thought && n < len(text): // the pieces of a thought are joined otherwise
		t.pieces.Say(strings.ToValidUTF8(text[n:], ""), item, false)
	}
	t.pieces.Flush()
}

func (i item) thought() string {
	var content []string
	_ = json.Unmarshal(i.Content, &content)
	return strings.Join(append(i.Summary, content...), "\n\n")
}

// classes are the items that are calls of tools, with what they do.
var classes = map[string]string{
	"commandExecution": "execute", "fileChange": "edit", "mcpToolCall": "other", "dynamicToolCall": "other",
	"collabAgentToolCall": "other", "webSearch": "search", "imageView": "read", "imageGeneration": "other", "functionCallOutput": "other",
}

// tool returns what may be shown of a call.
func (i item) tool(over bool) (host.Tool, bool) {
	class, known := classes[i.Type]
	if !known || i.ID == "" {
		return host.Tool{}, false
	}
	tool := host.Tool{ID: host.Clip(host.Printable(i.ID), maxTitle), Title: i.title(), Class: class, Status: host.ToolRunning}
	if over {
		tool.Status = host.ToolDone
	}
	switch i.Status {
	case "failed", "declined":
		tool.Status = host.ToolFailed
	}
	return tool, true
}

// title says what the tool is, without what it was given: of a command the name of
// the program, of a change the number of files, of other calls the name of the tool.
func (i item) title() string {
	var name string
	_ = json.Unmarshal(i.Tool, &name)
	switch i.Type {
	case "commandExecution":
		return commandTitle(i.Command, i.Actions)
	case "fileChange":
		var changes []json.RawMessage
		_ = json.Unmarshal(i.Changes, &changes)
		return fmt.Sprintf("change of %d files", len(changes))
	case "mcpToolCall":
		name = strings.Trim(host.PlainName(i.Server)+" "+host.PlainName(name), " ")
	case "webSearch":
		return "web search"
	case "imageView":
		return "view of an image"
	case "imageGeneration":
		return "generation of an image"
	default:
		name = host.PlainName(name)
	}
	return cmp.Or(name, "tool")
}

// commandTitle returns the name of the program that a command runs.
func commandTitle(command string, actions []action) string {
	if len(actions) > 0 {
		command = actions[0].Command
	}
	return cmp.Or(host.ProgramName(command), "command")
}
