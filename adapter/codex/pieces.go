package codex

import (
	"time"

	"github.com/docket-go/docket/adapter/host"
)

// held is text that is held back for a moment, so that the log gets sentences and
// not syllables.
type held struct {
	text    []byte
	thought bool
	item    string
	timer   *time.Timer
}

// say adds to what the agent says or thinks.
func (t *turn) say(text, item string, thought bool) {
	if text == "" {
		return
	}
	if h := t.held; h != nil && (h.thought != thought || h.item != item) {
		t.flush()
	}
	if t.held == nil {
		t.hold(&held{thought: thought, item: item})
	}
	t.held.text = append(t.held.text, text...)
	if len(t.held.text) >= t.a.options.PieceBytes || t.a.options.PieceDelay < 0 {
		t.flush()
	}
}

// hold begins a piece, which is flushed after a moment if nothing does so before.
func (t *turn) hold(h *held) {
	t.held = h
	if t.a.options.PieceDelay < 0 {
		return
	}
	h.timer = time.AfterFunc(t.a.options.PieceDelay, func() {
		t.a.with(func(*state) {
			if t.held == h {
				t.flush()
			}
		})
	})
}

// flush emits what is held back.
func (t *turn) flush() {
	h := t.held
	if h == nil {
		return
	}
	t.held = nil
	if h.timer != nil {
		h.timer.Stop()
	}
	if h.thought {
		t.emit(h.item, host.Thought{Text: string(h.text)})
	} else {
		t.emit(h.item, host.Text{Text: string(h.text)})
	}
}
