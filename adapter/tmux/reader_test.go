//go:build unix

package tmux_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain makes the test binary the program in a pane when it is started there.
func TestMain(m *testing.M) {
	switch os.Getenv("DOCKET_TMUX_TEST") {
	case "reader":
		runReader(os.Args[1], os.Args[2:])
		return
	case "insert":
		insertAndDie(os.Args[1:])
		return
	}
	os.Exit(m.Run())
}

// A reader is a small harness: it draws an input line, logs each byte that it
// gets to <log>, and each prompt that is submitted to <log>.prompts. Its terminal
// is raw.
type reader struct {
	log, prompts *os.File
	is           map[string]bool
	composer     string
	said         []string
	dialog       bool
}

func runReader(log string, modes []string) {
	r := &reader{is: map[string]bool{}}
	for _, m := range modes {
		r.is[m] = true
	}
	r.log = create(log)
	r.prompts = create(log + ".prompts")
	if !r.is["plain"] {
		fmt.Print("\x1b[?2004h")
	}
	if r.is["hidden"] {
		fmt.Print("\x1b[?25l")
	}
	if r.is["draft"] {
		r.composer = "half a thou"
	}
	r.dialog = r.is["dialog"]
	r.draw()
	r.loop()
}

func create(path string) *os.File {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return f
}

// loop reads bytes until the end of the terminal.
func (r *reader) loop() {
	in := bufio.NewReader(os.Stdin)
	var pasted []byte
	pasting := false
	for {
		c, err := in.ReadByte()
		if err != nil {
			return
		}
		_, _ = r.log.Write([]byte{c})
		pasted = append(pasted, c)
		switch {
		case !pasting && bytes.HasSuffix(pasted, []byte("\x1b[200~")):
			pasting, pasted = true, nil
		case pasting && bytes.HasSuffix(pasted, []byte("\x1b[201~")):
			r.composer += string(bytes.TrimSuffix(pasted, []byte("\x1b[201~")))
			pasting, pasted = false, nil
			r.dialog = r.dialog || r.is["dialog-after-paste"]
		case pasting:
		case c == 0x04:
			return
		case c == '\r' || c == '\n':
			r.submit()
		case c >= ' ' && c != 0x7f && !bytes.ContainsRune(pasted, 0x1b):
			r.composer += string(c)
		}
		if !pasting && in.Buffered() == 0 {
			r.draw()
		}
	}
}

// submit takes what is on the input line, as Enter does.
func (r *reader) submit() {
	line, _ := json.Marshal(map[string]string{"role": "user", "content": r.composer})
	if r.dialog {
		line = []byte(`{"approved":true}`)
		r.dialog = false
	}
	if !r.is["deaf"] {
		_, _ = r.prompts.Write(append(line, '\n'))
	}
	if !r.is["sticky"] {
		r.said = append(r.said, r.composer)
		r.composer = ""
	}
}

// draw shows what was said, the input line last, so that the cursor stands
// behind it.
func (r *reader) draw() {
	if _, err := os.Stat(r.log.Name() + ".hang"); err == nil || r.is["silent"] {
		return
	}
	var b strings.Builder
	b.WriteString("\x1b[H\x1b[2Ja small harness\r\n\r\n")
	for _, s := range r.said[max(0, len(r.said)-3):] {
		fmt.Fprintf(&b, "  you said %d bytes\r\n", len(s))
	}
	if r.is["busy"] {
		b.WriteString("* Working (3s, esc to interrupt)\r\n")
	}
	if r.dialog {
		b.WriteString("Run rm -rf build?\r\n❯ 1. Yes\r\n  2. No\r\n")
		_, _ = os.Stdout.WriteString(b.String())
		return
	}
	shown := r.composer
	if n := strings.Count(shown, "\n"); r.is["mark"] && n > 0 {
		shown = fmt.Sprintf("[Pasted text #1 +%d lines]", n)
	}
	lines := strings.Split(shown, "\n")
	if len(lines) > 8 {
		lines = lines[len(lines)-8:]
	}
	b.WriteString("> " + strings.Join(lines, "\r\n  "))
	if shown == "" && r.is["placeholder"] {
		b.WriteString("\x1b[2mTell me more\x1b[0m\x1b[12D")
	}
	_, _ = os.Stdout.WriteString(b.String())
}
