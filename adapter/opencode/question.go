package opencode

import (
	"context"
	"net/http"
	"strings"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// question is the body of a prompt.
type question struct {
	MessageID string   `json:"messageID"`
	Agent     string   `json:"agent,omitempty"`
	Model     *model   `json:"model,omitempty"`
	Parts     []prompt `json:"parts"`
}

type model struct {
	ProviderID string `json:"providerID"`
	ModelID    string `json:"modelID"`
}

// prompt is the text. Its own id makes a repetition replace it; without one opencode
// would put the text into the message a second time.
type prompt struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Text     string   `json:"text"`
	Metadata metadata `json:"metadata"`
}

type metadata struct {
	Docket origin `json:"docket"`
}

// origin says where a message comes from, to whoever reads opencode's store.
type origin struct {
	MID        string            `json:"mid"`
	Session    string            `json:"session"`
	From       string            `json:"from"`
	Attributes map[string]string `json:"attributes,omitempty"`
}

func (a *Adapter) question(id string, p adapter.Prompt) question {
	q := question{MessageID: "msg_" + id, Agent: a.options.Agent, Parts: []prompt{{
		ID: "prt_" + id, Type: "text", Text: p.Text,
		Metadata: metadata{origin{p.MID, p.Session, p.From, p.Attributes}},
	}}}
	if provider, name, ok := strings.Cut(a.options.Model, "/"); ok {
		q.Model = &model{provider, name}
	}
	return q
}

// ensureSession returns opencode's session, and makes and keeps one if none is known.
// The id is kept before the first message, so a crash leaves at most an empty session
// that nobody uses.
func (a *Adapter) ensureSession(ctx context.Context) (string, error) {
	a.making.Lock()
	defer a.making.Unlock()
	session, ok, err := a.known()
	if err != nil || ok {
		return session, err
	}
	title := a.session.ID
	if title == "" {
		title = "docket"
	}
	var made struct{ ID string }
	if err := a.call(ctx, http.MethodPost, "/session", nil, struct {
		Title string `json:"title"`
	}{title}, &made); err != nil {
		return "", err
	}
	if _, err := sessionID(made.ID); err != nil {
		return "", err
	}
	step.At("opencode: session made")
	return a.notes.keepSession(made.ID)
}
