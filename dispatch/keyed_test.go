package dispatch_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
)

func TestSameKeySameContentIsOneMessage(t *testing.T) {
	w := newWorld(t, "s1")
	m := dispatch.Message{Text: "merge it", Key: "secret-key-7", Operation: "merge"}
	first := w.send("s1", m)
	w.reopen(dispatch.Options{})
	again := w.send("s1", m)
	if !again.Replayed || again.MID != first.MID || !again.Delivered || again.Cursor != first.Cursor {
		t.Fatalf("got %+v, want the first one, %+v, replayed", again, first)
	}
	wantEqual(t, "timeline", w.sent("s1"), []string{first.MID})
	wantEqual(t, "agent", w.agent.mids(), []string{first.MID})
	other := w.send("s1", dispatch.Message{Text: "merge it", Key: "secret-key-7", Operation: "deploy"})
	if other.Replayed || other.MID == first.MID {
		t.Fatalf("got %+v, want another message: the operation differs", other)
	}
}

func TestReplayOfAnOwedMessageOwesItOnce(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	m := dispatch.Message{Text: "once", Key: "k"}
	first := w.send("s1", m)
	again := w.send("s1", m)
	if !again.Replayed || again.Delivered {
		t.Fatalf("got %+v, want it replayed and owed", again)
	}
	wantEqual(t, "owed", w.pending("s1"), []string{first.MID})
}

func TestReplayOfARevokedMessageOwesNothing(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	m := dispatch.Message{Text: "once", Key: "k"}
	first := w.send("s1", m)
	must(t, w.Revoke(t.Context(), "s1", first.MID))
	if again := w.send("s1", m); again.MID != first.MID || !again.Replayed {
		t.Fatalf("got %+v, want the first one", again)
	}
	wantEqual(t, "owed", w.pending("s1"), nil)
}

func TestReusedKeyIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    dispatch.Message
	}{
		{"other text", dispatch.Message{Text: "other"}},
		{"other sender", dispatch.Message{Text: "once", From: "lead"}},
		{"other channel", dispatch.Message{Text: "once", ReplyVia: compose.Note}},
		{"other attributes", dispatch.Message{Text: "once", Attributes: map[string]string{"a": "b"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "s1")
			first := w.send("s1", dispatch.Message{Text: "once", Key: "k"})
			tt.m.Key = "k"
			_, err := w.SendText(t.Context(), "s1", tt.m)
			wantIs(t, err, dispatch.ErrKeyReused)
			wantEqual(t, "timeline", w.sent("s1"), []string{first.MID})
		})
	}
}

func TestKeyIsNeverStored(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	w.send("s1", dispatch.Message{Text: "once", Key: "the-raw-key"})
	err := filepath.WalkDir(w.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte("the-raw-key")) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	must(t, err)
}

// A keyed entry whose receipt is not there, or says something else, stops the
// pass and stays owed.
func TestEntryWithoutItsReceiptIsNotHandedOver(t *testing.T) {
	for name, change := range map[string][2]string{
		"other text":   {`"text":"once"`, `"text":"evil"`},
		"other digest": {`"requestDigest":"`, `"requestDigest":"0`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1")
			w.agent.set(busy)
			a := w.send("s1", dispatch.Message{Text: "once", Key: "k"})
			path := filepath.Join(w.dir, "sessions", "s1", "pending.json")
			content, err := os.ReadFile(path)
			must(t, err)
			must(t, os.Remove(path))
			// Without its checksum the entry counts as one of another writer.
			content = bytes.Replace(content, []byte(`"crc":`), []byte(`"was":`), 1)
			must(t, os.WriteFile(path, bytes.Replace(content, []byte(change[0]), []byte(change[1]), 1), 0o600))
			w.agent.set(nil)
			w.reopen(dispatch.Options{})
			_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			wantIs(t, err, dispatch.ErrReceipt)
			wantEqual(t, "agent", w.agent.mids(), nil)
			wantEqual(t, "owed", w.pending("s1"), []string{a.MID})
		})
	}
}

// A keyed message that a stale queue still holds is fenced by its receipt: at its end
// it is not handed over again.
func TestStaleEntryOfAKeyIsDropped(t *testing.T) {
	for name, end := range map[string]func(w *world, mid string) error{
		"delivered": func(w *world, _ string) error {
			_, err := w.Drain(w.t.Context(), "s1", dispatch.DrainOptions{})
			return err
		},
		"revoked": func(w *world, mid string) error { return w.Revoke(w.t.Context(), "s1", mid) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "s1")
			mid := w.send("s1", dispatch.Message{Text: "once", Key: "k", NoDrain: true}).MID
			path := w.path("s1", "pending.json")
			stale, err := os.ReadFile(path)
			must(t, err)
			must(t, end(w, mid))
			got := w.agent.mids()
			must(t, w.Close())
			must(t, os.WriteFile(path, stale, 0o600))
			w.reopen(dispatch.Options{})
			_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
			must(t, err)
			wantEqual(t, "agent", w.agent.mids(), got)
			wantEqual(t, "owed", w.pending("s1"), nil)
		})
	}
}
