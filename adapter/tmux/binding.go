package tmux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/adapter"
)

// BindingFile is the name of the file in the session's directory that says which
// pane the session is bound to.
const BindingFile = "tmux.json"

// A binding is what [BindingFile] holds.
type binding struct {
	Version  int    `json:"version"`
	Target   string `json:"target"`   // the settings for which it was made:
	Socket   string `json:"socket"`   // others make a new binding
	Path     string `json:"path"`     // of the server's socket
	Identity string `json:"identity"` // see [Identity]
	Program  string `json:"program"`  // the program in the foreground then
	Bound    string `json:"bound"`    // when, RFC 3339
}

const bindingVersion = 1

// A view is the bound pane as it stood when it was read.
type view struct {
	server
	snapshot
	reading
}

// look reads the pane and makes sure that it is the one that the session is bound
// to; the first time, it binds it. Errors are refusals.
func (a *Adapter) look(ctx context.Context) (view, error) {
	stored, found, err := a.stored()
	if err != nil {
		return view{}, adapter.Refuse(err)
	}
	s := server{socket: a.options.Socket, bound: a.options.CommandTimeout}
	if stored.Path != "" {
		s.socket = stored.Path
	}
	snap, err := s.capture(ctx, a.options.Target)
	if err != nil {
		return view{}, a.unreadable(err)
	}
	if err := a.rightPane(stored, snap); err != nil {
		return view{}, gone(err)
	}
	if !found || stored.Program == "" || isShell(stored.Program) && !isShell(snap.program) {
		if err := a.bind(snap); err != nil {
			return view{}, adapter.Refuse(fmt.Errorf("binding of the session: %w", err))
		}
	}
	s.socket = snap.socket
	return view{s, snap, a.profile.read(snap)}, nil
}

// unreadable turns the error of a snapshot into a refusal. A client that ends
// with an exit status has not found the pane, or not even a server.
func (a *Adapter) unreadable(err error) error {
	why := fmt.Errorf("pane %s cannot be read: %w", a.options.Target, err)
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		return gone(fmt.Errorf("%w: start the harness and set target to its pane", why))
	}
	return adapter.Refuse(why)
}

// rightPane says why the pane of snap is not the one that the session is bound
// to, or not run by the harness any more.
func (a *Adapter) rightPane(stored binding, snap snapshot) error {
	target := a.options.Target
	switch {
	case snap.identity.Pane != target:
		return fmt.Errorf("there is no pane %s on the tmux server: start the harness and set target to its pane", target)
	case stored.Identity != "" && stored.Identity != snap.identity.String() && a.file == "":
		return fmt.Errorf("pane %s is another pane now (bound to %s, found %s): bind the session anew", target, stored.Identity, snap.identity)
	case stored.Identity != "" && stored.Identity != snap.identity.String():
		return fmt.Errorf("pane %s is another pane now (bound to %s, found %s): set target or bind to the right one, or remove %s to take this one",
			target, stored.Identity, snap.identity, a.file)
	case snap.dead:
		return nil // the reading says so
	case a.options.Program != "" && snap.program != a.options.Program:
		return fmt.Errorf("%s runs in pane %s, not %s: start it", snap.program, target, a.options.Program)
	case a.options.Program == "" && stored.Program != "" && isShell(snap.program) && !isShell(stored.Program):
		return fmt.Errorf("%s has ended and the shell %s has pane %s: start it again", stored.Program, snap.program, target)
	}
	return nil
}

// stored returns the binding that counts: the one on disk, or without a file the
// one of this process.
func (a *Adapter) stored() (binding, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == "" {
		return a.binding, a.binding.Version != 0, nil
	}
	data, err := os.ReadFile(a.file)
	if errors.Is(err, fs.ErrNotExist) {
		return binding{}, false, nil
	}
	if err != nil {
		return binding{}, false, fmt.Errorf("binding of the session: %w", err)
	}
	var b binding
	if err := json.Unmarshal(data, &b); err != nil || b.Version != bindingVersion || b.Identity == "" {
		return binding{}, false, fmt.Errorf("binding of the session: %s does not make sense: check that pane %s is the right one, then remove the file",
			a.file, a.options.Target)
	}
	if b.Target != a.options.Target || b.Socket != a.options.Socket {
		return binding{}, false, nil
	}
	return b, true, nil
}

// bind notes the pane of snap as the session's.
func (a *Adapter) bind(snap snapshot) error {
	b := binding{
		Version: bindingVersion, Target: a.options.Target, Socket: a.options.Socket, Path: snap.socket,
		Identity: snap.identity.String(), Program: snap.program, Bound: a.options.Now().UTC().Format(time.RFC3339),
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == "" {
		a.binding = b
		return nil
	}
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return replaceFile(a.file, append(data, '\n'))
}

// replaceFile writes a file that only its owner can read, whole or not at all.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
