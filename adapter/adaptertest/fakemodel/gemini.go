package fakemodel

import "encoding/json"

// geminiPart is the whole answer as one part.
func (a reply) geminiPart() object {
	if a.tool != "" {
		return object{"functionCall": object{"name": a.tool, "args": json.RawMessage(a.input)}}
	}
	return object{"text": a.text}
}

func (a reply) candidate(part object, finish string) object {
	c := object{"index": 0, "content": object{"role": "model", "parts": []any{part}}}
	if finish != "" {
		c["finishReason"] = finish
	}
	return object{"candidates": []any{c}, "modelVersion": a.q.Model, "responseId": a.id,
		"usageMetadata": object{"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}}
}

func (a reply) geminiEvents(steps int) []event {
	if a.tool != "" {
		return []event{{data: a.candidate(a.geminiPart(), "STOP")}}
	}
	var all []event
	for i, piece := range a.pieces(steps) {
		all = append(all, event{data: a.candidate(object{"text": piece}, ""), pause: i > 0})
	}
	return append(all, event{data: a.candidate(object{"text": ""}, "STOP")})
}
