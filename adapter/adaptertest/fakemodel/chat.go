package fakemodel

// chat is the plain answer to /v1/chat/completions.
func (a reply) chat() any {
	message, finish := object{"role": "assistant", "content": a.text}, "stop"
	if a.tool != "" {
		message, finish = object{"role": "assistant", "content": nil, "tool_calls": a.chatCalls()}, "tool_calls"
	}
	return object{"id": a.id, "object": "chat.completion", "created": a.q.Time.Unix(), "model": a.q.Model, "usage": chatUsage,
		"choices": []any{object{"index": 0, "message": message, "finish_reason": finish}}}
}

var chatUsage = object{"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}

func (a reply) chatCalls() []any {
	return []any{object{"index": 0, "id": "call_" + a.id, "type": "function", "function": object{"name": a.tool, "arguments": a.input}}}
}

func (a reply) chatEvents(steps int) []event {
	chunk := func(choices []any, usage any) event {
		return event{data: object{"id": a.id, "object": "chat.completion.chunk", "created": a.q.Time.Unix(), "model": a.q.Model,
			"choices": choices, "usage": usage}}
	}
	choice := func(delta object, finish any) event {
		return chunk([]any{object{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	}
	all := []event{choice(object{"role": "assistant", "content": ""}, nil)}
	finish := "stop"
	if a.tool != "" {
		all = append(all, choice(object{"tool_calls": a.chatCalls()}, nil))
		finish = "tool_calls"
	} else {
		for i, piece := range a.pieces(steps) {
			e := choice(object{"content": piece}, nil)
			e.pause = i > 0
			all = append(all, e)
		}
	}
	return append(all, choice(object{}, finish), chunk([]any{}, chatUsage), event{})
}
