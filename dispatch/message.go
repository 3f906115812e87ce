package dispatch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// DefaultOperation is the operation of a keyed message that names none.
const DefaultOperation = "send"

const (
	maxKeyBytes        = 4096
	maxOperationBytes  = 128
	maxAttributes      = 64
	maxAttributesBytes = 16 << 10
)

// A Message is what [Dispatcher.SendText] takes.
type Message struct {
	// Text is what is said: valid UTF-8 without NUL, not only white space, at most
	// the store's text limit (8 MiB unless configured).
	Text string

	// From is the sending session; empty means a human. It need not be a session
	// of the same store.
	From string

	// ReplyVia asks for a reply channel; empty lets package compose decide.
	ReplyVia compose.Channel

	// Key makes the send repeatable: the same operation, key and content is the
	// same message, from any process, at any time. Empty means no key.
	Key string

	// Operation separates keys of different purposes; empty means
	// [DefaultOperation] where there is a key.
	Operation string

	// Attributes go to the adapter as they are.
	Attributes map[string]string

	// NoDrain leaves the delivery to a later pass.
	NoDrain bool

	// ToLife is the life of the session that is meant, as in [session.Record], so that no
	// later session with its id gets the message: that is [session.ErrNotFound]. Nil
	// means whichever bears the id now.
	ToLife *uint64

	// Outlives keeps the message owed when its sender is closed; other messages are
	// void then. It is for what is said about the sender, rather than by it.
	Outlives bool
}

// check refuses what must not reach a file. Only the text's size is left to the
// timeline, which knows the limit and refuses before it writes anything.
func (m *Message) check() error {
	if !isText(m.Text) {
		return timeline.ErrText
	}
	if strings.TrimSpace(m.Text) == "" {
		return ErrEmptyText
	}
	if m.From != "" {
		if err := session.ValidID(m.From); err != nil {
			return fmt.Errorf("sender: %w", err)
		}
	}
	if _, err := compose.ParseChannel(string(m.ReplyVia)); err != nil {
		return err
	}
	if err := m.checkKey(); err != nil {
		return err
	}
	return m.checkAttributes()
}

func (m *Message) checkKey() error {
	switch {
	case m.Key == "" && m.Operation == "":
		return nil
	case m.Key == "":
		return fmt.Errorf("%w: operation %q has no key: give one", ErrKey, m.Operation)
	case len(m.Key) > maxKeyBytes || len(m.Operation) > maxOperationBytes:
		return fmt.Errorf("%w: at most %d bytes of key and %d of operation", ErrKey, maxKeyBytes, maxOperationBytes)
	case !isText(m.Operation):
		return fmt.Errorf("%w: the operation is not valid UTF-8 text", ErrKey)
	}
	if m.Operation == "" {
		m.Operation = DefaultOperation
	}
	return nil
}

func (m *Message) checkAttributes() error {
	total := 0
	for name, value := range m.Attributes {
		total += len(name) + len(value)
		if !isText(name) || !isText(value) {
			return fmt.Errorf("%w: %q is not valid UTF-8 text", ErrAttributes, name)
		}
		if name == "" {
			return fmt.Errorf("%w: one has no name", ErrAttributes)
		}
	}
	if len(m.Attributes) > maxAttributes || total > maxAttributesBytes {
		return fmt.Errorf("%w: at most %d, of %d bytes together", ErrAttributes, maxAttributes, maxAttributesBytes)
	}
	return nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// requestDigest stands for the key on disk.
func (m *Message) requestDigest() string { return digest([]byte(m.Key)) }

// payloadHash stands for everything that must be the same when a key comes again.
func (m *Message) payloadHash() string {
	content, err := json.Marshal(struct {
		Text       string            `json:"text"`
		From       string            `json:"from"`
		ReplyVia   compose.Channel   `json:"replyVia"`
		Attributes map[string]string `json:"attributes,omitempty"`
	}{m.Text, m.From, m.ReplyVia, m.Attributes})
	if err != nil {
		panic(err) // strings and a map of strings always marshal
	}
	return digest(content)
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
