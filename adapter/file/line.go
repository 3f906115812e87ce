package file

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter"
)

// opening is how every line of this package begins.
const opening = `{"ts":"`

// headBytes is how much of a line is kept to find its mid; the rest is passed
// over. maxMIDBytes is chosen so that the mid, with every byte escaped, is
// within it.
const (
	headBytes   = 8 << 10
	maxMIDBytes = 1 << 10
)

// line is one prompt as the file holds it.
type line struct {
	TS         string            `json:"ts"`
	MID        string            `json:"mid"`
	Session    string            `json:"session"`
	From       *string           `json:"from"`
	Text       string            `json:"text"`
	Attributes map[string]string `json:"attributes"`
}

// encode returns the line of p with its newline.
func encode(now time.Time, p adapter.Prompt) ([]byte, error) {
	if err := check(p); err != nil {
		return nil, err
	}
	l := line{
		TS:  now.UTC().Format("2006-01-02T15:04:05.000Z"),
		MID: p.MID, Session: p.Session, Text: p.Text, Attributes: p.Attributes,
	}
	if p.From != "" {
		l.From = &p.From
	}
	if l.Attributes == nil {
		l.Attributes = map[string]string{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// check refuses what JSON would carry changed and what could not be looked up.
func check(p adapter.Prompt) error {
	if p.MID == "" || len(p.MID) > maxMIDBytes {
		return fmt.Errorf("mid has %d bytes: give it between 1 and %d", len(p.MID), maxMIDBytes)
	}
	fields := []string{p.MID, p.Session, p.From, p.Text}
	for name, value := range p.Attributes {
		fields = append(fields, name, value)
	}
	for _, field := range fields {
		if !utf8.ValidString(field) {
			return errors.New("not valid UTF-8")
		}
	}
	return nil
}

// scan reports whether one of the whole lines of r is a line of this package with
// that mid. A line that begins like one and is not JSON to its end, because a
// power cut took a block out of it, has not arrived.
func scan(r io.Reader, mid string) (bool, error) {
	b := bufio.NewReaderSize(r, headBytes)
	for {
		part, err := b.ReadSlice('\n')
		matches := mid != "" && midOf(part) == mid
		var whole []byte // the line, if it matches
		for {
			if matches {
				whole = append(whole, part...)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
			part, err = b.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF):
			return false, nil // what has no newline has not arrived
		case err != nil:
			return false, err
		case matches && json.Valid(whole):
			return true, nil
		}
	}
}

// midOf returns the mid of a line of which only the beginning may be there, and
// "" if it is no line of this package.
func midOf(head []byte) string {
	if !bytes.HasPrefix(head, []byte(opening)) {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(head))
	var got [5]json.Token
	for i := range got {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		got[i] = t
	}
	mid, ok := got[4].(string)
	if !ok || got[3] != "mid" {
		return ""
	}
	return mid
}
