package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	maxPiece = 256 << 10 // of a text; a longer one is emitted in pieces
	maxTitle = 4 << 10   // of what people read
	maxName  = 1024      // of ids and codes
	maxFact  = 16 << 10  // of the value of a state
	maxFacts = 64        // names of states
)

// emissionOf returns the frame for one emission.
func emissionOf(token string, n uint64, native Native, v Value) (frame, error) {
	var value bytes.Buffer
	encoder := json.NewEncoder(&value)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return frame{}, fmt.Errorf("host: %s: %w", v.kind(), err)
	}
	f := frame{Type: emissionFrame, Token: token, N: n, Kind: v.kind(), Value: bytes.TrimSuffix(value.Bytes(), []byte("\n"))}
	if native != (Native{}) {
		f.Native = &native
	}
	return f, nil
}

// emission reads the frame of one emission.
func (f frame) emission() (Emission, error) {
	e := Emission{Token: f.Token, N: f.N}
	if f.Native != nil {
		e.Native = *f.Native
	}
	read, known := readers()[f.Kind]
	if !known || f.N == 0 || f.Token == "" {
		return e, fmt.Errorf("%w: an emission of kind %.40q and number %d", ErrProtocol, f.Kind, f.N)
	}
	v, err := read(f.Value)
	if err != nil {
		return e, fmt.Errorf("%w: %s: %w", ErrProtocol, f.Kind, err)
	}
	e.Value = v
	return e, checkValue(v)
}

var readers = sync.OnceValue(func() map[string]func(json.RawMessage) (Value, error) {
	return map[string]func(json.RawMessage) (Value, error){
		Text{}.kind():       reading[Text],
		Thought{}.kind():    reading[Thought],
		Tool{}.kind():       reading[Tool],
		Permission{}.kind(): reading[Permission],
		Usage{}.kind():      reading[Usage],
		Result{}.kind():     reading[Result],
		Diagnostic{}.kind(): reading[Diagnostic],
		Finished{}.kind():   reading[Finished],
	}
})

func reading[V Value](raw json.RawMessage) (Value, error) {
	var v V
	err := strict(raw, &v)
	return v, err
}

// checkValue refuses a word that a closed vocabulary does not have.
func checkValue(v Value) error {
	ok := true
	switch v := v.(type) {
	case Tool:
		ok = slices.Contains([]ToolStatus{ToolPending, ToolRunning, ToolDone, ToolFailed}, v.Status)
	case Permission:
		ok = v.ID != "" && slices.Contains([]PermissionState{Asked, Granted, Denied, Revoked}, v.State)
	case Diagnostic:
		ok = slices.Contains([]Severity{Info, Warning, Problem}, v.Severity)
	case Finished:
		ok = slices.Contains([]Outcome{Success, Failure, Cancelled, Interrupted}, v.Outcome)
	}
	if !ok {
		return fmt.Errorf("%w: a %s with a word that it does not have", ErrProtocol, v.kind())
	}
	return nil
}

// tame makes of what an agent emits values that can be recorded: valid UTF-8, of
// bounded size, with the words that there are. A long text becomes several pieces.
func tame(v Value) []Value {
	switch v := v.(type) {
	case Text:
		return pieces(v.Text, func(s string) Value { return Text{s} })
	case Thought:
		return pieces(v.Text, func(s string) Value { return Thought{s} })
	case Result:
		return pieces(v.Text, func(s string) Value { return Result{s} })
	case Tool:
		v.ID, v.Title, v.Class = clip(v.ID, maxName), clip(v.Title, maxTitle), clip(v.Class, maxName)
		v.Status = oneOf(v.Status, ToolRunning, ToolPending, ToolDone, ToolFailed)
		return []Value{v}
	case Permission:
		return []Value{tamePermission(v)}
	case Diagnostic:
		v.Severity = oneOf(v.Severity, Info, Warning, Problem)
		v.Code, v.Text = clip(v.Code, maxName), clip(v.Text, maxTitle)
		return []Value{v}
	case Usage:
		return []Value{v}
	}
	return nil // a Finished comes by Finish
}

func tamePermission(p Permission) Permission {
	p.ID, p.Title, p.State = clip(p.ID, maxName), clip(p.Title, maxTitle), Asked
	p.Options = slices.Clone(p.Options[:min(len(p.Options), maxFacts)])
	for i, o := range p.Options {
		p.Options[i].ID, p.Options[i].Name = clip(o.ID, maxName), clip(o.Name, maxName)
	}
	return p
}

func tameFinished(f Finished) Finished {
	f.Outcome = oneOf(f.Outcome, Interrupted, Success, Failure, Cancelled)
	f.Code, f.Diagnostic = clip(f.Code, maxName), clip(f.Diagnostic, maxTitle)
	return f
}

func (n Native) tame() Native {
	return Native{clip(n.Provider, maxName), clip(n.Session, maxName), clip(n.Turn, maxName), clip(n.Item, maxName)}
}

// oneOf returns word if it is one of those that there are, and the first if not.
func oneOf[S ~string](word, first S, others ...S) S {
	if slices.Contains(others, word) {
		return word
	}
	return first
}

// clip returns the beginning of s, valid and at most limit bytes long.
func clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// pieces cuts s at runes.
func pieces(s string, piece func(string) Value) (all []Value) {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for len(s) > maxPiece {
		head := clip(s, maxPiece)
		all = append(all, piece(head))
		s = s[len(head):]
	}
	return append(all, piece(s))
}
