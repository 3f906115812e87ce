// Package opencode is the adapter that hands prompts to one session of a server
// that "opencode serve" started, over HTTP.
//
// # What it keeps
//
// The folder opencode in the session's directory: which of opencode's sessions is
// this session's, and a mark for each message whose hand-over was begun and is not
// proven.
//
// # Guarantees
//
// [Adapter.Insert] returns nil only once opencode shows the message: it is in
// opencode's own store then, which survives a kill of opencode. The text gets there
// and to the model byte for byte. The message's id in opencode is made of the
// message's own, so a message that is handed over again replaces itself instead of
// showing up twice, and causes no second turn. That is why an unconfirmed message is
// redelivered by itself. As opencode does begin another turn for an old message that
// is repeated once a newer one stands behind it, Insert looks first, and hands over
// nothing that is there.
//
// A busy opencode refuses, and the message stays owed. It would take the message and
// show it to the model together with all others that came meanwhile, in one turn; and
// a person who interrupts that turn leaves them without an answer. The setting
// while-busy=join hands over nevertheless. Without it, Insert also waits for the turn to
// begin, so that the next one finds opencode busy.
//
// [Adapter.Lookup] says Present if opencode shows the message, and Absent if it does
// not and no hand-over of it was begun that may still get there.
//
// # Crashes
//
// A process that dies inside Insert leaves, by the step that it had reached: a session
// of opencode without messages that nobody uses; a mark, with which Lookup cannot tell
// until the message shows; a message that is there and is found. A message that is
// handed over again after any of these is in opencode once.
//
// # Format
//
// opencode/session holds the id of opencode's session and a newline. It is written once,
// before the first message. opencode/begun-ID, empty, is the mark of the message with that
// id in opencode; it is made and synced before the request and removed after the proof.
//
// An id is msg_, twelve hexadecimal digits and fourteen letters or digits, as opencode's
// own. The digits are 36 bits of the milliseconds at which the message was accepted, where
// its id is a UUID of version 7, and 12 bits of a SHA-256; everything else is of that
// SHA-256, over opencode's session and the message's id. The text is one part, prt_ with
// the same end, whose metadata hold {"docket":{"mid","session","from","attributes"}}; the
// model does not see them.
//
// These are the requests, to opencode 1.18: POST /session, GET /session/ID/message/ID,
// GET /session/ID/message, POST /session/ID/prompt_async, GET /session/status, POST
// /session/ID/abort, GET /permission, /question, /agent and /config/providers.
package opencode

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/docket-go/docket/adapter"
)

// Kind is the adapter "opencode" for an [adapter.Registry].
var Kind = adapter.Kind{
	Name: "opencode",
	Doc:  "hands prompts to a session of opencode serve over HTTP, exactly once",
	Settings: []adapter.Setting{
		{
			Name: "url", Default: defaultURL, Canonical: canonicalURL,
			Doc:     "where opencode serve listens",
			Allowed: "an http or https URL without a path",
		},
		{
			Name: "session", Canonical: sessionID,
			Doc:     "opencode's own id of its session; unset means that one is made for the first message and kept",
			Allowed: "an id that begins with ses_",
		},
		{
			Name: "directory", Canonical: filepath.Abs,
			Doc:     "the project directory; unset means the one that the server was started in",
			Allowed: "the path of a directory on the server's machine",
		},
		{
			Name:    "agent",
			Doc:     "the agent of opencode that answers; unset means opencode's default",
			Allowed: "the name of an agent, such as build or plan",
		},
		{
			Name: "model", Canonical: canonicalModel,
			Doc:     "the model that answers; unset means opencode's default",
			Allowed: "PROVIDER/MODEL, as opencode models lists them",
		},
		{
			Name: "while-busy", Default: busyRefuse, Canonical: adapter.OneOf(busyRefuse, busyJoin),
			Doc:     "what becomes of a text while a turn is going on",
			Allowed: "refuse (it is tried later and gets a turn of its own) or join (the model sees it in the turn that goes on)",
		},
		{
			Name: "username", Default: defaultUser,
			Doc:     "the user name for a server with a password",
			Allowed: "a name",
		},
		{
			Name: "password-file", Canonical: filepath.Abs,
			Doc:     "a file with the server's password; unset means what the variable OPENCODE_SERVER_PASSWORD holds",
			Allowed: "the path of a file",
		},
		{
			Name: "timeout", Default: defaultTimeout.String(), Canonical: positive,
			Doc:     "how long opencode may take to answer and to show a message",
			Allowed: "a duration above zero, such as 30s or 2m",
		},
	},
	Open: func(s adapter.Session, settings map[string]string) (adapter.Adapter, error) {
		timeout, err := time.ParseDuration(settings["timeout"])
		if err != nil {
			return nil, err
		}
		return New(s, Options{
			URL: settings["url"], Session: settings["session"], Directory: settings["directory"],
			Agent: settings["agent"], Model: settings["model"], Join: settings["while-busy"] == busyJoin,
			Username: settings["username"], PasswordFile: settings["password-file"], Timeout: timeout,
		})
	},
}

const (
	defaultURL     = "http://127.0.0.1:4096"
	defaultUser    = "opencode"
	defaultTimeout = 30 * time.Second

	busyRefuse = "refuse"
	busyJoin   = "join"

	passwordVariable = "OPENCODE_SERVER_PASSWORD"
)

// Options configures an [Adapter].
type Options struct {
	// URL is where opencode serve listens. Empty means http://127.0.0.1:4096.
	URL string

	// Session is opencode's id of its session. Empty means that the first Insert
	// makes one, which is kept in the session's directory.
	Session string

	// Directory is the project directory on the server's machine. Empty means the
	// one that the server was started in.
	Directory string

	// Agent and Model, as PROVIDER/MODEL, say who answers. Empty means opencode's
	// own choice.
	Agent, Model string

	// Join hands over while a turn is at work; opencode shows the message to the
	// model in that turn.
	Join bool

	// Username and PasswordFile are for a server with a password. Empty means
	// "opencode" and what the variable OPENCODE_SERVER_PASSWORD holds.
	Username, PasswordFile string

	// Timeout bounds one request, and the wait for the message to show. Zero means
	// 30 seconds; a negative value means that only the context bounds them.
	Timeout time.Duration
}

// Adapter hands prompts to one session of opencode. It is safe for concurrent use.
type Adapter struct {
	options Options
	base    *url.URL
	session adapter.Session
	notes   notes
	client  *http.Client

	making  sync.Mutex // held while opencode's session is made
	checked sync.Map   // what of the settings the server was seen to know
}

// New returns the adapter of one session, whose directory must be given. It contacts
// nobody and writes nothing.
func New(s adapter.Session, o Options) (*Adapter, error) {
	if s.Dir == "" {
		return nil, errors.New("opencode: no session directory: name the one that keeps its notes")
	}
	if o.URL == "" {
		o.URL = defaultURL
	}
	if o.Username == "" {
		o.Username = defaultUser
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	clean, err := canonicalURL(o.URL)
	if err != nil {
		return nil, fmt.Errorf("opencode: url: %w", err)
	}
	base, err := url.Parse(clean)
	if err != nil {
		return nil, fmt.Errorf("opencode: url: %w", err)
	}
	for _, check := range []struct {
		value string
		by    func(string) (string, error)
	}{{o.Session, sessionID}, {o.Model, canonicalModel}} {
		if _, err := check.by(check.value); check.value != "" && err != nil {
			return nil, fmt.Errorf("opencode: %w", err)
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &Adapter{options: o, base: base, session: s, notes: notes{filepath.Join(s.Dir, "opencode")}, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Headless reports true: nobody reads a terminal of the server.
func (a *Adapter) Headless() bool { return true }

// Policy reports [adapter.Redeliver]: a message that is handed over again is there once.
func (a *Adapter) Policy() adapter.Policy { return adapter.Redeliver }

// Close closes the connections that are idle. It does not touch the server.
func (a *Adapter) Close() error {
	a.client.CloseIdleConnections()
	return nil
}

func canonicalURL(value string) (string, error) {
	u, err := url.Parse(value)
	switch {
	case err != nil:
		return "", err
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.RawQuery != "", u.Fragment != "":
		return "", fmt.Errorf("bad value %q", value)
	case u.User != nil:
		return "", errors.New("a password in the URL is refused: use username and password-file")
	case u.Path != "" && u.Path != "/":
		return "", fmt.Errorf("bad value %q: it has a path", value)
	}
	return u.Scheme + "://" + u.Host, nil
}

func sessionID(value string) (string, error) {
	if !strings.HasPrefix(value, "ses_") || strings.ContainsFunc(value, func(r rune) bool { return !isWordRune(r) }) {
		return "", fmt.Errorf("bad value %q", value)
	}
	return value, nil
}

func isWordRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func canonicalModel(value string) (string, error) {
	if provider, model, ok := strings.Cut(value, "/"); !ok || provider == "" || model == "" {
		return "", fmt.Errorf("bad value %q", value)
	}
	return value, nil
}

func positive(value string) (string, error) {
	d, err := time.ParseDuration(value)
	if err == nil && d <= 0 {
		err = fmt.Errorf("bad value %q", value)
	}
	return value, err
}

// password returns what the server is to be told, if anything.
func (a *Adapter) password() (string, error) {
	if a.options.PasswordFile == "" {
		return os.Getenv(passwordVariable), nil
	}
	b, err := os.ReadFile(a.options.PasswordFile)
	return strings.TrimRight(string(b), "\r\n"), err
}
