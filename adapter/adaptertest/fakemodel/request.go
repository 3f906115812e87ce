package fakemodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// The forms of a question.
const (
	apiResponses = "responses"
	apiChat      = "chat"
	apiGemini    = "gemini"
	apiModels    = "models"
	apiOther     = "other"
)

// body is what the forms of a question have in common or for themselves.
type body struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	Messages []item          `json:"messages"` // chat
	Input    json.RawMessage `json:"input"`    // responses: a text or items
	Contents []item          `json:"contents"` // gemini
	Tools    []tool          `json:"tools"`
}

// item is one message, or the result of a tool.
type item struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a text or parts
	Parts   []part          `json:"parts"`   // gemini
}

type part struct {
	Text             string          `json:"text"`
	FunctionResponse json.RawMessage `json:"functionResponse"`
}

type tool struct {
	Type                 string                  `json:"type"`
	Name                 string                  `json:"name"`
	Function             struct{ Name string }   `json:"function"`
	FunctionDeclarations []struct{ Name string } `json:"functionDeclarations"`
}

// read makes a request of what came in. What is not understood is left empty.
func read(r *http.Request, raw []byte) Request {
	q := Request{API: apiOf(r.URL.Path), Path: r.URL.Path, Body: raw}
	var b body
	if json.Unmarshal(raw, &b) != nil {
		return q
	}
	q.Model, q.Stream = b.Model, b.Stream
	items := b.Messages
	switch q.API {
	case apiResponses:
		if text := ""; json.Unmarshal(b.Input, &text) == nil {
			q.Users = append(q.Users, text)
		} else {
			_ = json.Unmarshal(b.Input, &items)
		}
	case apiGemini:
		items = b.Contents
		q.Stream = strings.Contains(q.Path, ":stream")
		name := q.Path[strings.LastIndex(q.Path, "/")+1:]
		q.Model, _, _ = strings.Cut(name, ":")
	}
	for _, i := range items {
		q.ToolResult = i.isToolResult()
		if text := i.lastText(); i.Role == "user" && text != "" {
			q.Users = append(q.Users, text)
		}
	}
	if n := len(q.Users); n > 0 {
		q.Text = q.Users[n-1]
	}
	for _, t := range b.Tools {
		q.Tools = append(q.Tools, t.names()...)
	}
	return q
}

func apiOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return apiChat
	case strings.HasSuffix(path, "/responses"):
		return apiResponses
	case strings.Contains(path, ":streamGenerateContent"), strings.Contains(path, ":generateContent"):
		return apiGemini
	case strings.HasSuffix(path, "/models"):
		return apiModels
	}
	return apiOther
}

func (i item) isToolResult() bool {
	for _, p := range i.Parts {
		if len(p.FunctionResponse) > 0 {
			return true
		}
	}
	return i.Role == "tool" || strings.HasSuffix(i.Type, "_call_output")
}

// lastText returns the last part that is a text.
func (i item) lastText() string {
	text := ""
	if json.Unmarshal(i.Content, &text) == nil {
		return text
	}
	parts := i.Parts
	_ = json.Unmarshal(i.Content, &parts)
	for _, p := range parts {
		if p.Text != "" {
			text = p.Text
		}
	}
	return text
}

func (t tool) names() []string {
	if len(t.FunctionDeclarations) > 0 {
		var all []string
		for _, d := range t.FunctionDeclarations {
			all = append(all, d.Name)
		}
		return all
	}
	if t.Function.Name != "" {
		return []string{t.Function.Name}
	}
	if t.Name != "" {
		return []string{t.Name}
	}
	return []string{t.Type}
}
