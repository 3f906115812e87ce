package session

import (
	"bytes"
	"fmt"
	"maps"
	"time"
)

// MaxRecordBytes bounds a record as it is stored. It leaves room for two notes of
// the default size, the declared one and the one that a launch froze.
const MaxRecordBytes = 32 << 20

// A Record is what session.json holds: the present state of one session. Fields
// that this package does not know are kept, as they are and where they are.
// Records are values; a copy shares Settings.
type Record struct {
	ID     string // as stored; [Session.ID] is the name of the directory
	Title  string
	Parent string // the session that this one belongs to; empty means none

	// What the agent declared last. While Launching is set, the internal state of
	// the launch; [Record.Authored] gives what readers are to be shown.
	Status, Proposal, Note string

	Adapter  string            // the name of the adapter; empty means none
	Settings map[string]string // of the adapter

	Life      uint64    // how many sessions with this id were closed before; see [Closing]
	CreatedAt time.Time // in milliseconds; zero means that it is not stored
	Archived  bool      // history: it still receives and declares
	Retired   bool      // it cannot work any more: it still receives
	Launching bool      // between [Session.BeginLaunch] and its end

	frozen   *Declaration // what Launching keeps back; nil if that is not stored
	declared *place       // where in the log the declaration stands; nil if that is not stored
	fields   object       // as read
}

// A place says where the log has, or is about to have, the line of the present
// declaration.
type place struct {
	Seq  uint64 `json:"seq"`
	Time string `json:"ts"`
}

// layoutTime is how a time stands in the record.
const layoutTime = "2006-01-02T15:04:05.000Z07:00"

func (p place) time() time.Time {
	t, err := time.Parse(time.RFC3339, p.Time)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Authored returns what the agent declared last as readers are to be shown it:
// while a launch is pending, what it declared before. If another program began
// the launch and did not store that, it is the record's own state.
func (r Record) Authored() Declaration {
	if r.Launching && r.frozen != nil {
		return *r.frozen
	}
	return r.own()
}

func (r Record) own() Declaration {
	return Declaration{Status: r.Status, Proposal: r.Proposal, Note: r.Note}
}

func (r Record) clone() Record {
	r.Settings = maps.Clone(r.Settings)
	return r
}

// check returns why the fields that a caller sets cannot be stored.
func (r Record) check() error {
	if r.Parent != "" {
		if err := ValidID(r.Parent); err != nil {
			return fmt.Errorf("session %s: %w: parent: %w", r.ID, ErrField, err)
		}
	}
	texts := map[string]string{"title": r.Title, "adapter": r.Adapter}
	for name, value := range r.Settings {
		texts["setting "+name] = name + value
	}
	for name, text := range texts {
		if !goodText(text) {
			return fmt.Errorf("session %s: %w: %.70q: it must be valid UTF-8 without NUL", r.ID, ErrField, name)
		}
	}
	return nil
}

// stored returns what the file is to hold.
func (r Record) stored() ([]byte, error) {
	data := r.object().encode()
	if len(data) > MaxRecordBytes {
		return nil, fmt.Errorf("session %s: %w: %d bytes, at most %d: use shorter texts", r.ID, ErrTooLarge, len(data), MaxRecordBytes)
	}
	return data, nil
}

// MarshalJSON returns the record as it is stored.
func (r Record) MarshalJSON() ([]byte, error) { return r.object().encode(), nil }

// UnmarshalJSON reads a stored record. An error leaves r as it was.
func (r *Record) UnmarshalJSON(data []byte) error {
	o, err := parseObject(bytes.Clone(data)) // the caller may use its memory again
	if err != nil {
		return err
	}
	next, err := decodeRecord(o)
	if err == nil {
		*r = next
	}
	return err
}

func decodeRecord(o object) (Record, error) {
	r := Record{fields: o}
	d := decoder{fields: o}
	d.text("session_id", &r.ID)
	d.text("title", &r.Title)
	d.text("parent", &r.Parent)
	d.text("status", &r.Status)
	d.text("proposal", &r.Proposal)
	d.text("note", &r.Note)
	d.text("harness", &r.Adapter)
	d.value("harness_settings", "an object of texts", &r.Settings)
	d.value("declared", `an object with "seq" and "ts"`, &r.declared)
	d.life("life", &r.Life)
	d.milliseconds("createdAt", &r.CreatedAt)
	d.truth("archived", &r.Archived)
	d.truth("retired", &r.Retired)
	d.truth("launch_readiness_pending", &r.Launching)
	d.projection("launch_readiness_pending", &r.frozen)
	if d.err == nil && r.declared != nil && r.declared.time().IsZero() {
		d.err = fmt.Errorf("field %q: %q is no time", "declared", r.declared.Time)
	}
	return r, d.err
}

// object returns the stored form: the fields as they were read, with only those
// changed whose meaning changed.
func (r Record) object() object {
	o := append(object(nil), r.fields...)
	was, err := decodeRecord(r.fields)
	if err != nil || r.fields == nil {
		was = Record{}
		o = newFields()
	}
	setMoved(&o, "session_id", was.ID, r.ID)
	setMoved(&o, "title", was.Title, r.Title)
	setMoved(&o, "parent", was.Parent, r.Parent)
	if was.Status != r.Status {
		o.set("status", orNull(r.Status))
	}
	setMoved(&o, "proposal", was.Proposal, r.Proposal)
	setMoved(&o, "note", was.Note, r.Note)
	setMoved(&o, "harness", was.Adapter, r.Adapter)
	if !maps.Equal(was.Settings, r.Settings) {
		o.set("harness_settings", r.Settings)
	}
	if !was.CreatedAt.Equal(r.CreatedAt) {
		o.set("createdAt", r.CreatedAt.UnixMilli())
	}
	setMoved(&o, "life", was.Life, r.Life)
	setMoved(&o, "archived", was.Archived, r.Archived)
	setMoved(&o, "retired", was.Retired, r.Retired)
	r.setLaunch(&o, was)
	if r.declared != nil && (was.declared == nil || *was.declared != *r.declared) {
		o.set("declared", r.declared)
	}
	return o
}

func (r Record) setLaunch(o *object, was Record) {
	switch {
	case !r.Launching && was.Launching:
		o.remove("launch_readiness_pending")
	case r.Launching && r.frozen != nil && (was.frozen == nil || *was.frozen != *r.frozen):
		o.set("launch_readiness_pending", map[string]any{
			"status": orNull(r.frozen.Status), "proposal": orNull(r.frozen.Proposal), "note": orNull(r.frozen.Note),
		})
	case r.Launching && !was.Launching:
		o.set("launch_readiness_pending", true)
	}
}

// newFields is an empty record in the order that its readers know.
func newFields() object {
	var o object
	for _, name := range []string{"session_id", "title", "name", "parent"} {
		o.set(name, "")
	}
	o.set("status", nil)
	for _, name := range []string{"proposal", "note"} {
		o.set(name, "")
	}
	o.set("createdAt", 0)
	o.set("harness", "")
	return o
}

func setMoved[T comparable](o *object, name string, was, is T) {
	if was != is {
		o.set(name, is)
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
