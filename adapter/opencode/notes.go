package opencode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/docket-go/docket/adapter/smallfile"
	"github.com/docket-go/docket/lock/durable"
)

// notes are the files of one session.
type notes struct{ dir string }

func (n notes) sessionPath() string        { return filepath.Join(n.dir, "session") }
func (n notes) begunPath(id string) string { return filepath.Join(n.dir, "begun-"+id) }

// session returns the id of opencode's session; ok is false if none was kept.
func (n notes) session() (id string, ok bool, err error) {
	b, err := os.ReadFile(n.sessionPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	id, ended := strings.CutSuffix(string(b), "\n")
	if _, err := sessionID(id); err != nil || !ended {
		return "", false, fmt.Errorf("%s: corrupt: remove it to begin a new session of opencode, or set session", n.sessionPath())
	}
	return id, true, nil
}

// keepSession keeps the id unless another one was kept meanwhile, and returns the one
// that counts. A crash leaves it kept, or not, and at most a file that nobody reads.
func (n notes) keepSession(id string) (string, error) {
	if err := n.makeDir(); err != nil {
		return "", err
	}
	if err := smallfile.Create(n.sessionPath(), []byte(id+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	kept, ok, err := n.session()
	if err == nil && !ok {
		err = fmt.Errorf("%s: gone again: the session is being closed", n.sessionPath())
	}
	return kept, err
}

// begin marks a message as begun, on stable storage.
func (n notes) begin(id string) error {
	if err := n.makeDir(); err != nil {
		return err
	}
	f, err := os.OpenFile(n.begunPath(id), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), durable.Names(n.dir))
}

// begun reports whether a message is marked as begun.
func (n notes) begun(id string) (bool, error) {
	_, err := os.Lstat(n.begunPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// settle removes the mark. One that stays only makes Lookup more careful.
func (n notes) settle(id string) { _ = os.Remove(n.begunPath(id)) }

// makeDir makes the folder in a session's directory that must be there.
func (n notes) makeDir() error {
	err := os.Mkdir(n.dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.Names(filepath.Dir(n.dir))
}
