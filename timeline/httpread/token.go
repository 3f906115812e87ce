package httpread

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	minTokenBytes = 16
	maxTokenBytes = 4096
)

// ReadToken returns the token in the file at path, for [Options.Token]: one word of
// at least 16 printable ASCII characters. The file must be a plain one that only its
// owner can read (0600), where the system has such permissions, and belong to the
// user of this process or to root. It changes nothing; the error says what is wrong with
// the file.
func ReadToken(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return "", fmt.Errorf("token file: %w: put a token of %d characters or more there, which only you may read", err, minTokenBytes)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("token file %s: no plain file: put the token in one", path)
	}
	if others(info) {
		return "", fmt.Errorf("token file %s: others can read it (%v): chmod 600 it, and make a new token", path, info.Mode().Perm())
	}
	if !ours(info) {
		return "", fmt.Errorf("token file %s: it belongs to another user: make one of your own", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxTokenBytes+1))
	if err != nil {
		return "", fmt.Errorf("token file: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if err := checkToken(token); err != nil {
		return "", fmt.Errorf("token file %s: %w", path, err)
	}
	return token, nil
}

func checkToken(token string) error {
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(token) < minTokenBytes || len(token) > maxTokenBytes || strings.ContainsFunc(token, unprintable) {
		return errors.New("a token is one word of 16 to 4096 printable ASCII characters: make one at random")
	}
	return nil
}
