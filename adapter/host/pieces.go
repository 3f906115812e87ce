package host

import (
	"cmp"
	"time"
)

// PieceOptions configures [Pieces]. The zero value is ready to use.
type PieceOptions struct {
	// Delay is how long text is held back so that more can join it. Zero means 500
	// milliseconds; a negative value means not at all.
	Delay time.Duration

	// SizeBytes is how much text is held back at most. Zero means 4096; a negative value
	// means that none is.
	SizeBytes int
}

// Pieces joins what a program says bit by bit, so that the log gets sentences and not
// syllables. Make it with [NewPieces]. It belongs to whoever has the mutex of its
// driver's turn: one goroutine at a time may use it.
type Pieces struct {
	options PieceOptions
	emit    func(item string, v Value)
	alone   func(do func())
	held    *piece // nil when nothing is
}

// A piece is text that is held back for a moment.
type piece struct {
	text    []byte
	thought bool
	item    string
	timer   *time.Timer
}

// NewPieces returns what hands a [Text] or [Thought] to emit when enough has come
// together, or no more of the kind comes. Alone runs a function with the driver's mutex:
// it is called when the time of a piece is over.
func NewPieces(o PieceOptions, emit func(item string, v Value), alone func(do func())) *Pieces {
	o.Delay = cmp.Or(o.Delay, 500*time.Millisecond)
	o.SizeBytes = cmp.Or(o.SizeBytes, 4096)
	return &Pieces{options: o, emit: emit, alone: alone}
}

// Say adds to what the program says, or thinks, in that part of its answer.
func (p *Pieces) Say(text, item string, thought bool) {
	if text == "" {
		return
	}
	if h := p.held; h != nil && (h.thought != thought || h.item != item) {
		p.Flush()
	}
	if p.held == nil {
		p.hold(&piece{thought: thought, item: item})
	}
	p.held.text = append(p.held.text, text...)
	if len(p.held.text) >= p.options.SizeBytes || p.options.Delay < 0 {
		p.Flush()
	}
}

// hold begins a piece, which is flushed after a moment if nothing does so before.
func (p *Pieces) hold(h *piece) {
	p.held = h
	if p.options.Delay < 0 {
		return
	}
	h.timer = time.AfterFunc(p.options.Delay, func() {
		p.alone(func() {
			if p.held == h {
				p.Flush()
			}
		})
	})
}

// Flush emits what is held back, if anything. Whatever else is emitted comes behind it.
func (p *Pieces) Flush() {
	h := p.held
	if h == nil {
		return
	}
	p.held = nil
	if h.timer != nil {
		h.timer.Stop()
	}
	if h.thought {
		p.emit(h.item, Thought{Text: string(h.text)})
	} else {
		p.emit(h.item, Text{Text: string(h.text)})
	}
}
