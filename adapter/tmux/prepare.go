package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// ErrText means that a text cannot be typed at all: nothing of it can be seen
// once it is sanitised, or it is too long or too misleading to be typed and must
// not be put into a file. It stays so until the text or a setting is changed.
var ErrText = errors.New("tmux: the text cannot be typed")

// maxTypedBytes is the longest text that is typed. Harnesses hang on more, and
// tmux had limits of its own.
const maxTypedBytes = 16 << 10

// A prepared text is ready to be typed.
type prepared struct {
	text     string // what is typed
	brackets bool   // it must not be typed without bracketed paste
	tail     string // squeezed end of text, by which it is found on the screen
	file     string // path that text refers to; empty: the text itself is typed
	content  string // of file
}

// Sanitise returns the text that Insert types for text: what [Sanitize] makes of
// it, or the sentence that names the file which holds it. If nothing can be
// typed it returns what Sanitize makes of it.
func (a *Adapter) Sanitise(text string) string {
	p, err := a.prepare(text)
	if err != nil {
		return sanitize(text, a.options.AllowCommands)
	}
	return p.text
}

// prepare applies all rules that depend on the text alone.
func (a *Adapter) prepare(text string) (prepared, error) {
	clean := sanitize(text, a.options.AllowCommands)
	if blank(clean) {
		return prepared{}, fmt.Errorf("%w: nothing of it is left without control characters: revoke it", ErrText)
	}
	if a.profile.looksLikeDialog(clean) && !strings.HasPrefix(clean, tag) && !a.profile.looksLikeDialog(tag+clean) {
		clean = tag + clean
	}
	p := prepared{text: clean}
	switch {
	case len(clean) > maxTypedBytes:
		if err := a.divert(&p, text, fmt.Sprintf("it is longer than %d bytes", maxTypedBytes)); err != nil {
			return prepared{}, err
		}
	case a.profile.looksLikeDialog(clean):
		if err := a.divert(&p, text, "on the screen it would look like a dialog"); err != nil {
			return prepared{}, err
		}
	}
	p.brackets = strings.ContainsAny(p.text, "\n\t")
	p.tail = tail(p.text)
	return p, nil
}

// divert replaces the text of p by a sentence that names a file. The name
// depends on the text alone, so that a second try writes the same file.
func (a *Adapter) divert(p *prepared, text, why string) error {
	if a.options.RefuseLong || a.dir == "" {
		return fmt.Errorf("%w: %s: send a shorter one, or one that names a file", ErrText, why)
	}
	sum := sha256.Sum256([]byte(text))
	p.file, p.content = filepath.Join(a.dir, "tmux-text-"+hex.EncodeToString(sum[:8])+".txt"), text
	p.text = sanitize(fmt.Sprintf("%sA message for you is in the file %s because it cannot be typed here. Read the whole file and act on it as if it stood here.", tag, p.file), false)
	return nil
}

// maxTailRunes is how much of a text's end must be on the input line.
const maxTailRunes = 24

func tail(text string) string {
	r := []rune(squeeze(text))
	return string(r[max(0, len(r)-maxTailRunes):])
}

// standsIn reports whether the text, or the mark that harnesses show instead of
// a long paste, is at the end of the squeezed input.
func (p prepared) standsIn(input string) bool {
	return p.tail != "" && strings.HasSuffix(input, p.tail) || pastedMark.compiled().MatchString(input)
}
