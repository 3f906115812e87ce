package screen

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// ErrNoTerminal is returned by [Open] when input or output is no terminal.
var ErrNoTerminal = errors.New("screen: no terminal")

// Options configures a Terminal. The zero value is ready to use.
type Options struct {
	NoColor bool // no colour is used, as the variable NO_COLOR asks for
}

// A Terminal is the user's terminal, taken as a whole. Its methods are for one
// goroutine, but for Close.
type Terminal struct {
	in, out *os.File
	options Options
	before  *term.State
	console func() // gives the output's mode back
	keys    chan Key
	resized chan struct{}
	stop    func() // ends the notification of new sizes
	done    chan struct{}
	once    sync.Once

	shown         []string // rows, as they were written
	width, height int      // for which they were
}

const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[2J"
	leave = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// escDelay is how long an escape waits for the rest of a longer sequence.
const escDelay = 40 * time.Millisecond

// Open takes the terminal that in and out are. The caller closes it.
//
// The error is [ErrNoTerminal] if one of them is none, or of the system; the terminal
// is as it was then. A process that dies afterwards leaves it as it is.
func Open(in, out *os.File, o Options) (*Terminal, error) {
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, ErrNoTerminal
	}
	t := &Terminal{in: in, out: out, options: o, keys: make(chan Key), resized: make(chan struct{}, 1), done: make(chan struct{})}
	var err error
	if t.console, err = speakVT(out); err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	if t.before, err = term.MakeRaw(int(in.Fd())); err != nil {
		t.console()
		return nil, fmt.Errorf("terminal: %w", err)
	}
	t.stop = onResize(t.resized)
	if _, err = out.WriteString(enter); err != nil {
		return nil, errors.Join(fmt.Errorf("terminal: %w", err), t.Close())
	}
	go t.read()
	return t, nil
}

// Close gives the terminal back as it was, and ends [Terminal.Keys]. It may be called
// again, and by any goroutine.
func (t *Terminal) Close() (err error) {
	t.once.Do(func() {
		close(t.done)
		t.stop()
		_, written := t.out.WriteString(leave)
		err = errors.Join(written, term.Restore(int(t.in.Fd()), t.before))
		t.console()
	})
	return err
}

// Size returns the columns and rows of the terminal, which change at any time.
func (t *Terminal) Size() (width, height int) {
	width, height, err := term.GetSize(int(t.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Keys gives what is typed. It is closed when nothing more can come.
func (t *Terminal) Keys() <-chan Key { return t.keys }

// Resized gives one value after the terminal has changed its size, where the system
// tells that.
func (t *Terminal) Resized() <-chan struct{} { return t.resized }

// Draw shows the frame. It writes the rows that differ from what is shown, and nothing
// where none does. The error is that of the write; the next Draw shows all anew.
func (t *Terminal) Draw(f Frame) error {
	width, height := t.Size()
	var b strings.Builder
	if width != t.width || height != t.height {
		b.WriteString("\x1b[0m\x1b[2J")
		t.shown, t.width, t.height = make([]string, height), width, height
	}
	for i := range t.shown {
		row := ""
		if i < len(f) {
			row = encode(f[i], width, t.options.NoColor)
		}
		if row != t.shown[i] {
			fmt.Fprintf(&b, "\x1b[%d;1H\x1b[2K%s", i+1, row)
			t.shown[i] = row
		}
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := t.out.WriteString(b.String())
	if err != nil {
		t.width, t.height = 0, 0
		return fmt.Errorf("terminal: %w", err)
	}
	return nil
}

// encode returns what shows the line on a terminal that is so wide.
func encode(l Line, width int, noColor bool) string {
	var b strings.Builder
	column := 0
	for _, s := range l.Spans {
		text := Cut(harmless(s.Text), width-column)
		if text == "" {
			continue
		}
		style := sgr[s.Style]
		if noColor {
			style = bare[s.Style]
		}
		if l.Selected {
			style = "7"
		}
		if style != "" {
			b.WriteString("\x1b[" + style + "m")
		}
		b.WriteString(text)
		if style != "" {
			b.WriteString("\x1b[0m")
		}
		if w := Width(text); w != len(text) {
			column += w
			b.WriteString("\x1b[" + strconv.Itoa(column+1) + "G") // whatever the terminal thinks of it
		} else {
			column += w
		}
	}
	return b.String()
}

// harmless returns text in which nothing acts on a terminal. Callers have words for
// what they show; this holds where they forgot.
func harmless(text string) string {
	acts := func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	}
	if strings.IndexFunc(text, acts) < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if acts(r) {
			return '?'
		}
		return r
	}, text)
}

// read makes keys of what the terminal sends.
func (t *Terminal) read() {
	defer close(t.keys)
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			b := make([]byte, 4096)
			n, err := t.in.Read(b)
			if n > 0 {
				select {
				case chunks <- b[:n]:
				case <-t.done:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	var d Decoder
	for {
		var late <-chan time.Time
		if d.Waiting() {
			late = time.After(escDelay)
		}
		var keys []Key
		select {
		case chunk, more := <-chunks:
			if !more {
				return
			}
			keys = d.Feed(chunk)
		case <-late:
			keys = d.Flush()
		case <-t.done:
			return
		}
		for _, k := range keys {
			select {
			case t.keys <- k:
			case <-t.done:
				return
			}
		}
	}
}
