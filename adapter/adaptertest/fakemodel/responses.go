package fakemodel

// response is the object of /v1/responses.
func (a reply) response(status string, output []any) object {
	return object{"id": "resp_" + a.id, "object": "response", "created_at": a.q.Time.Unix(), "model": a.q.Model, "status": status, "output": output,
		"usage": object{"input_tokens": 11, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 16}}
}

// items are what the response puts out: one message, or one call of a tool.
func (a reply) items(status string) []any {
	if a.tool != "" {
		return []any{object{"type": "function_call", "id": "fc_" + a.id, "call_id": "call_" + a.id, "name": a.tool, "arguments": a.input, "status": status}}
	}
	content := []any{}
	if status == "completed" {
		content = append(content, object{"type": "output_text", "text": a.text, "annotations": []any{}})
	}
	return []any{object{"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": status, "content": content}}
}

func (a reply) responseEvents(steps int) []event {
	var all []event
	add := func(name string, pause bool, data object) {
		data["type"], data["sequence_number"] = name, len(all)
		all = append(all, event{name, data, pause})
	}
	add("response.created", false, object{"response": a.response("in_progress", []any{})})
	add("response.output_item.added", false, object{"output_index": 0, "item": a.items("in_progress")[0]})
	if a.tool == "" {
		of := func(more object) object {
			more["item_id"], more["output_index"], more["content_index"] = "msg_"+a.id, 0, 0
			return more
		}
		add("response.content_part.added", false, of(object{"part": object{"type": "output_text", "text": "", "annotations": []any{}}}))
		for i, piece := range a.pieces(steps) {
			add("response.output_text.delta", i > 0, of(object{"delta": piece}))
		}
		add("response.output_text.done", false, of(object{"text": a.text}))
	}
	done := a.items("completed")
	add("response.output_item.done", false, object{"output_index": 0, "item": done[0]})
	add("response.completed", false, object{"response": a.response("completed", done)})
	return all
}
