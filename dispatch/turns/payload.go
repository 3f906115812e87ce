package turns

import (
	"errors"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/turn"
)

// payloadOf returns what the log keeps of a value that an agent emitted.
func payloadOf(v host.Value) turn.Emission {
	switch v := v.(type) {
	case host.Text:
		return turn.Text{Text: v.Text}
	case host.Thought:
		return turn.Thought{Text: v.Text}
	case host.Tool:
		return turn.Tool{ID: v.ID, Title: v.Title, Class: v.Class, Status: turn.ToolStatus(v.Status)}
	case host.Permission:
		return permissionOf(v)
	case host.Usage:
		return turn.Usage{Input: v.Input, Cached: v.Cached, Output: v.Output, Reasoning: v.Reasoning, Total: v.Total}
	case host.Result:
		return turn.ResultObserved{Text: v.Text}
	case host.Diagnostic:
		return turn.Diagnostic{Severity: turn.Severity(v.Severity), Code: v.Code, Text: v.Text}
	}
	return turn.Diagnostic{Severity: turn.SeverityError, Code: CodeNotRecorded, Text: "an emission of an unknown kind"}
}

// permissionOf keeps the names of the options, and of an answer nothing but itself.
func permissionOf(p host.Permission) turn.Permission {
	kept := turn.Permission{ID: p.ID, Title: p.Title, State: turn.PermissionState(p.State)}
	for _, o := range p.Options {
		kept.Options = append(kept.Options, o.Name)
	}
	return kept
}

func nativeOf(e host.Emission) turn.Native {
	return turn.Native{Provider: e.Native.Provider, Session: e.Native.Session, Turn: e.Native.Turn, Item: e.Native.Item, Broker: e.N}
}

func isTooLarge(err error) bool {
	var e *timeline.TooLargeError
	return errors.As(err, &e)
}
