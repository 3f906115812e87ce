package httpread_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/httpread"
)

// A schema is as much of JSON Schema as the description uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Const      any                `json:"const"`
	Enum       []any              `json:"enum"`
	OneOf      []*schema          `json:"oneOf"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional any                `json:"additionalProperties"`
	Items      *schema            `json:"items"`
}

type description struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		Parameters []struct{ Name, In string }
		Responses  map[string]struct {
			Content map[string]struct{ Schema *schema }
		}
	}
	Components struct{ Schemas map[string]*schema }
}

// fits returns what of v does not fit the schema.
func (d *description) fits(s *schema, v any, at string) error {
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		if s = d.Components.Schemas[name]; s == nil {
			return fmt.Errorf("%s: no schema %s", at, name)
		}
	}
	if s.Type != nil && !slices.ContainsFunc(asList(s.Type), func(t any) bool { return isA(v, t) }) {
		return fmt.Errorf("%s: %v is no %v", at, v, s.Type)
	}
	if s.Const != nil && v != s.Const || s.Enum != nil && !slices.Contains(s.Enum, v) {
		return fmt.Errorf("%s: %v is not allowed", at, v)
	}
	if s.OneOf != nil {
		return d.fitsOne(s.OneOf, v, at)
	}
	switch v := v.(type) {
	case map[string]any:
		return d.fitsObject(s, v, at)
	case []any:
		for i, e := range v {
			if err := d.fits(s.Items, e, fmt.Sprint(at, "/", i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *description) fitsOne(all []*schema, v any, at string) (err error) {
	n := 0
	for _, s := range all {
		if e := d.fits(s, v, at); e == nil {
			n++
		} else {
			err = e
		}
	}
	if n != 1 {
		return fmt.Errorf("%s: fits %d of the alternatives: %v", at, n, err)
	}
	return nil
}

func (d *description) fitsObject(s *schema, v map[string]any, at string) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s: %s is missing", at, name)
		}
	}
	for name, e := range v {
		property := s.Properties[name]
		if extra, ok := s.Additional.(map[string]any); property == nil && ok {
			property = &schema{Ref: extra["$ref"].(string)}
		}
		if property == nil && s.Additional == false {
			return fmt.Errorf("%s: %s is not described", at, name)
		}
		if property == nil {
			continue
		}
		if err := d.fits(property, e, at+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

func asList(v any) []any {
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

func isA(v, name any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	}
	return name == "object"
}

func described(f *fixture) (d description) {
	f.t.Helper()
	f.get("/api/openapi.json").into(f.t, &d)
	return d
}

func TestEveryPathIsDescribed(t *testing.T) {
	d := described(begin(t))
	if !strings.HasPrefix(d.OpenAPI, "3.1.") {
		t.Errorf("got version %q", d.OpenAPI)
	}
	got := map[string]string{}
	for path, methods := range d.Paths {
		for method := range methods {
			got[path] = strings.ToUpper(method)
		}
	}
	if want := httpread.Paths(); !maps.Equal(got, want) {
		t.Errorf("described: %v\nserved: %v", got, want)
	}
}

// Every answer of the handlers, good or bad, is one that the description has.
func TestAnswersFitTheDescription(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	f.make("b")
	f.declare(s, "awaiting", "merge", "look")
	f.numbered(s, 0, 1)
	f.append(s, timeline.Sent{MID: "x", Text: "by note", ReplyVia: timeline.Note})
	f.owed["a"] = []httpread.Owed{{MID: "m0", Text: "x", State: "owed", EnqueuedAt: now}, {MID: "m1", From: "b", State: "unconfirmed", LastAttempt: now, LastError: "busy"}}
	f.ended["x"] = httpread.State{State: "delivered", EndedAt: now}
	d := described(f)
	next := f.page("/api/sessions/b/timeline").Next
	for _, tt := range []struct {
		method, path, body, header string
		status                     int
	}{
		{"GET", "/api/openapi.json", "", "", 200},
		{"GET", "/api/sessions", "", "", 200},
		{"GET", "/api/sessions?limit=1", "", "", 200},
		{"GET", "/api/sessions?limit=x", "", "", 400},
		{"GET", "/api/sessions", "", "Host: evil", 421},
		{"GET", "/api/sessions", "", "Origin: null", 403},
		{"GET", "/api/sessions/a", "", "", 200},
		{"GET", "/api/sessions/b", "", "", 200},
		{"GET", "/api/sessions/c", "", "", 404},
		{"GET", "/api/sessions/a/timeline", "", "", 200},
		{"GET", "/api/sessions/a/timeline?after=" + next + "x", "", "", 400},
		{"GET", "/api/sessions/b/timeline", "", "", 200},
		{"GET", "/api/sessions/a/pending", "", "", 200},
		{"GET", "/api/sessions/a/states?mid=m0&mid=x", "", "", 200},
		{"GET", "/api/sessions/a/events?after=x", "", "", 400},
		{"GET", "/api/events?after=x", "", "", 400},
		{"POST", "/api/sessions/a/input", `{"text":"hello"}`, asJSON, 202},
		{"POST", "/api/sessions/a/input", `{"text":" "}`, asJSON, 422},
		{"POST", "/api/sessions/a/input", `text`, "Content-Type: text/plain", 415},
		{"POST", "/api/sessions/c/input", `{"text":"hello"}`, asJSON, 404},
	} {
		t.Run(tt.method+tt.path, func(t *testing.T) {
			var headers []string
			if tt.header != "" {
				headers = []string{tt.header}
			}
			a := f.ask(tt.method, tt.path, tt.body, headers...)
			if a.StatusCode != tt.status {
				t.Fatalf("got %s %s, want %d", a.Status, a.body, tt.status)
			}
			if err := d.fitsAnswer(tt.method, tt.path, a); err != nil {
				t.Errorf("%v: %s", err, a.body)
			}
		})
	}
}

var oneSession = regexp.MustCompile(`/sessions/[^/]+`)

func (d *description) fitsAnswer(method, path string, a reply) error {
	path, _, _ = strings.Cut(path, "?")
	path = oneSession.ReplaceAllString(path, "/sessions/{id}")
	response, ok := d.Paths[path][strings.ToLower(method)].Responses[fmt.Sprint(a.StatusCode)]
	if !ok {
		return fmt.Errorf("%s %s: status %d is not described", method, path, a.StatusCode)
	}
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	content, ok := response.Content[kind]
	if !ok {
		return fmt.Errorf("content type %s is not described", kind)
	}
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		return err
	}
	return d.fits(content.Schema, v, "")
}

// The parameters that are described are those that are taken.
func TestParametersFitTheDescription(t *testing.T) {
	f := begin(t)
	f.make("a")
	for path, methods := range described(f).Paths {
		for method, operation := range methods {
			if method != "get" || strings.HasSuffix(path, "/openapi.json") {
				continue
			}
			path := strings.ReplaceAll(path, "{id}", "a")
			a := f.get(path + "?undescribed=1")
			if a.StatusCode != http.StatusBadRequest {
				t.Errorf("%s takes a parameter that is not described", path)
			}
			for _, p := range operation.Parameters {
				if p.In == "query" && !strings.Contains(string(a.body), p.Name) {
					t.Errorf("%s does not take %s: %s", path, p.Name, a.body)
				}
			}
		}
	}
}
