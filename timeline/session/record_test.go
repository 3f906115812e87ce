package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

func TestReferenceRecord(t *testing.T) {
	data, err := os.ReadFile("testdata/reference.json")
	check(t, err)
	var r session.Record
	check(t, r.UnmarshalJSON(data))
	if r.ID != "ref-1" || r.Title != "a reference session" || r.Adapter != "opencode" || !r.CreatedAt.Equal(time.UnixMilli(1)) {
		t.Errorf("got %+v", r)
	}
	if got, want := r.Authored(), (session.Declaration{Status: "awaiting", Proposal: "merge", Note: "final note"}); got != want {
		t.Errorf("got declared %+v, want %+v", got, want)
	}
	stored, err := r.MarshalJSON()
	check(t, err)
	if !bytes.Equal(stored, data) {
		t.Errorf("got\n%s\nwant it as it was read:\n%s", stored, data)
	}
}

// Only what is meant to change changes: all else stays byte for byte, in place.
func TestForeignFieldsStay(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	before := `{"zeta": 1.0e+3,` + "\n" + `  "n": 123456789012345678901234567890, "\u0061b": {"k" : [1,  2 ,{}]},
		"status":null,"title":"\u0041","archived":0, "tail":"\ud800","createdAt":1.5}`
	path := filepath.Join(s.Dir(), "session.json")
	check(t, os.WriteFile(path, []byte(before), 0o600))
	check(t, s.Archive(ctx))
	after, err := os.ReadFile(path)
	check(t, err)
	want := `{
  "zeta": 1.0e+3,
  "n": 123456789012345678901234567890,
  "\u0061b": {"k" : [1,  2 ,{}]},
  "status": null,
  "title": "\u0041",
  "archived": true,
  "tail": "\ud800",
  "createdAt": 1.5
}
`
	if string(after) != want {
		t.Errorf("got\n%s\nwant\n%s", after, want)
	}
}

func TestRecordMeanings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stored string
		want   session.Record
	}{
		{"nothing known", `{"x":1}`, session.Record{}},
		{"null is empty", `{"status":null,"title":null,"harness_settings":null,"createdAt":null,"archived":null,"declared":null}`, session.Record{}},
		{"the last of two counts", `{"title":"a","title":"b"}`, session.Record{Title: "b"}},
		{"true in other words", `{"archived":1,"retired":"yes"}`, session.Record{Archived: true, Retired: true}},
		{"false in other words", `{"archived":0,"retired":""}`, session.Record{}},
		{"a number that no float holds", `{"archived":1e999}`, session.Record{Archived: true}},
		{"a launch of another program", `{"status":"active","launch_readiness_pending":true}`, session.Record{Status: "active", Launching: true}},
		{"a launch", `{"launch_readiness_pending":{"status":"asking","proposal":null,"note":"n"}}`, session.Record{Launching: true}},
		{"settings", `{"harness":"exec","harness_settings":{"cmd":"cat"}}`, session.Record{Adapter: "exec", Settings: map[string]string{"cmd": "cat"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r session.Record
			check(t, r.UnmarshalJSON([]byte(tt.stored)))
			if got := session.Known(r); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestUnreadableRecords(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	path := filepath.Join(s.Dir(), "session.json")
	whole, err := os.ReadFile(path)
	check(t, err)
	for name, content := range map[string]string{
		"empty":                 "",
		"NULs":                  strings.Repeat("\x00", 200),
		"two objects":           "{}{}",
		"an array":              "[]",
		"null":                  "null",
		"a text":                `"session"`,
		"status is a number":    `{"status":1}`,
		"title is an object":    `{"title":{}}`,
		"createdAt is a text":   `{"createdAt":"2026"}`,
		"createdAt is far off":  `{"createdAt":1e300}`,
		"settings are a list":   `{"harness_settings":[]}`,
		"a setting is a number": `{"harness_settings":{"a":1}}`,
		"declared is a truth":   `{"declared":true}`,
		"declared at no time":   `{"declared":{"seq":1,"ts":"soon"}}`,
		"declared before zero":  `{"declared":{"seq":-1,"ts":"2026-01-01T00:00:00.000Z"}}`,
		"a launch's own status": `{"launch_readiness_pending":{"status":1}}`,
		"deep":                  `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}",
	} {
		t.Run(name, func(t *testing.T) {
			check(t, os.WriteFile(path, []byte(content), 0o600))
			refused(t, s, path, content)
		})
	}
	for n := range len(whole) - 2 { // without the last brace or more
		check(t, os.WriteFile(path, whole[:n], 0o600))
		refused(t, s, path, string(whole[:n]))
	}
}

// refused checks that neither a read nor a change takes the record for another
// one, and that it is left as it is.
func refused(t *testing.T, s *session.Session, path, content string) {
	t.Helper()
	_, err := s.Record()
	var bad *session.RecordError
	if !errors.As(err, &bad) || !errors.Is(err, session.ErrUnreadable) || bad.Path != path || bad.Session != s.ID() {
		t.Fatalf("%.40q: got %v, want a RecordError that names the file", content, err)
	}
	_, err = s.Declare(ctx, active)
	wantError(t, err, session.ErrUnreadable)
	wantError(t, s.Archive(ctx), session.ErrUnreadable)
	if now, err := os.ReadFile(path); err != nil || string(now) != content {
		t.Fatalf("%.40q: got %.40q (%v), want it left as it is", content, now, err)
	}
}

func TestRecordThatIsNoFile(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	path := filepath.Join(s.Dir(), "session.json")
	outside := filepath.Join(quickDir(t), "other.json")
	check(t, os.Rename(path, outside))
	_, err := s.Record()
	wantError(t, err, session.ErrUnreadable) // missing in a session that is there
	check(t, os.Symlink(outside, path))
	_, err = s.Record()
	wantError(t, err, session.ErrUnreadable)
	check(t, os.Remove(path))
	check(t, os.Mkdir(path, 0o700))
	_, err = s.Record()
	wantError(t, err, session.ErrUnreadable)
	check(t, os.Remove(path))
	f, err := os.Create(path)
	check(t, err)
	check(t, errors.Join(f.Truncate(session.MaxRecordBytes+1), f.Close()))
	_, err = s.Record()
	wantError(t, err, session.ErrUnreadable)
	check(t, os.RemoveAll(s.Dir()))
	_, err = s.Record()
	wantError(t, err, lock.ErrClosed)
}

func FuzzRecord(f *testing.F) {
	reference, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(reference)
	f.Add([]byte(`{"session_id":"s","status":"active","declared":{"seq":3,"ts":"2026-07-16T00:00:00.000Z"},"x":[1, 2]}`))
	f.Add([]byte(`{"launch_readiness_pending":{"status":null},"harness_settings":{"a":"b"},"createdAt":1e3,"archived":"no"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r session.Record
		if r.UnmarshalJSON(data) != nil {
			return
		}
		stored, err := r.MarshalJSON()
		check(t, err)
		var was, is map[string]json.RawMessage
		check(t, json.Unmarshal(data, &was))
		check(t, json.Unmarshal(stored, &is))
		if !maps.EqualFunc(was, is, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Fatalf("read %q, stored %q", data, stored)
		}
		var again session.Record
		check(t, again.UnmarshalJSON(stored))
		if !reflect.DeepEqual(session.Known(again), session.Known(r)) || again.Authored() != r.Authored() {
			t.Fatalf("read %+v, and then %+v", r, again)
		}
		r.Title += "!"
		changed, err := r.MarshalJSON()
		check(t, err)
		check(t, again.UnmarshalJSON(changed))
		if strings.ToValidUTF8(r.Title, "\uFFFD") != again.Title || again.Authored() != r.Authored() {
			t.Fatalf("changed to %+v, read %+v", r, again)
		}
	})
}
