package compose_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/compose"
)

const (
	none     = compose.Channel("")
	terminal = compose.Terminal
	note     = compose.Note
)

// TestCompose has every row of explicit channel x headless x channel of the last
// human message x sender.
func TestCompose(t *testing.T) {
	for _, tt := range []struct {
		explicit compose.Channel
		headless bool
		last     compose.Channel
		from     string
		via      compose.Channel
		insert   compose.Insert
	}{
		{none, false, none, "", terminal, compose.None},
		{none, false, none, "peer", terminal, compose.None},
		{none, false, terminal, "", terminal, compose.None},
		{none, false, terminal, "peer", terminal, compose.None},
		{none, false, note, "", terminal, compose.TerminalReply},
		{none, false, note, "peer", terminal, compose.None}, // an agent does not use it up
		{none, true, none, "", note, compose.NoteReply},
		{none, true, none, "peer", note, compose.NoteReply},
		{none, true, terminal, "", note, compose.NoteReply},
		{none, true, terminal, "peer", note, compose.NoteReply},
		{none, true, note, "", note, compose.NoteReply}, // every message says it anew
		{none, true, note, "peer", note, compose.NoteReply},

		{terminal, false, none, "", terminal, compose.None},
		{terminal, false, none, "peer", terminal, compose.None},
		{terminal, false, terminal, "", terminal, compose.None},
		{terminal, false, terminal, "peer", terminal, compose.None},
		{terminal, false, note, "", terminal, compose.TerminalReply},
		{terminal, false, note, "peer", terminal, compose.None},
		{terminal, true, none, "", terminal, compose.None}, // explicit wins over headless
		{terminal, true, none, "peer", terminal, compose.None},
		{terminal, true, terminal, "", terminal, compose.None},
		{terminal, true, terminal, "peer", terminal, compose.None},
		{terminal, true, note, "", terminal, compose.TerminalReply},
		{terminal, true, note, "peer", terminal, compose.None},

		{note, false, none, "", note, compose.NoteReply},
		{note, false, none, "peer", note, compose.NoteReply},
		{note, false, terminal, "", note, compose.NoteReply},
		{note, false, terminal, "peer", note, compose.NoteReply},
		{note, false, note, "", note, compose.NoteReply},
		{note, false, note, "peer", note, compose.NoteReply},
		{note, true, none, "", note, compose.NoteReply},
		{note, true, none, "peer", note, compose.NoteReply},
		{note, true, terminal, "", note, compose.NoteReply},
		{note, true, terminal, "peer", note, compose.NoteReply},
		{note, true, note, "", note, compose.NoteReply},
		{note, true, note, "peer", note, compose.NoteReply},
	} {
		r := compose.Request{Text: "go on", From: tt.from, Explicit: tt.explicit, Headless: tt.headless, LastHuman: tt.last}
		got, err := compose.Texts{}.Compose(r)
		if err != nil {
			t.Fatalf("%+v: got error %v, want none", r, err)
		}
		want := compose.Composed{Via: tt.via, Text: "go on" + tail(tt.insert), Insert: tt.insert}
		if got != want {
			t.Errorf("%+v: got %+v, want %+v", r, got, want)
		}
	}
}

func tail(i compose.Insert) string {
	switch i {
	case compose.NoteReply:
		return "\n\n" + compose.DefaultNoteReply
	case compose.TerminalReply:
		return "\n\n" + compose.DefaultTerminalReply
	}
	return ""
}

func TestUnknownChannelIsAnError(t *testing.T) {
	for _, c := range []compose.Channel{"Note", "email", " ", "note "} {
		got, err := compose.Texts{}.Compose(compose.Request{Text: "x", Explicit: c})
		if !errors.Is(err, compose.ErrChannel) || got != (compose.Composed{}) {
			t.Errorf("%q: got %+v, %v, want nothing and ErrChannel", c, got, err)
		}
		if _, err := compose.ParseChannel(string(c)); !errors.Is(err, compose.ErrChannel) {
			t.Errorf("ParseChannel(%q): got %v, want ErrChannel", c, err)
		}
	}
}

// What another writer recorded as a channel is history: it is no reason to refuse
// a message, and only note is a note.
func TestUnknownLastChannelIsNoNote(t *testing.T) {
	got, err := compose.Texts{}.Compose(compose.Request{Text: "x", LastHuman: "email"})
	if err != nil || got.Insert != compose.None {
		t.Errorf("got %+v, %v, want no insert", got, err)
	}
}

func TestRawTextIsKeptByteForByte(t *testing.T) {
	for _, raw := range []string{"", "a", "a\n", "a\n\n", "\n a \t", "-n", "a;", "$HOME %d `x` \"q\" 'q'", "\r\n", "h\u00e9 \U0001F600", "\xff", strings.Repeat("long ", 20000)} {
		for _, c := range []compose.Channel{terminal, note} {
			got, err := compose.Texts{}.Compose(compose.Request{Text: raw, Explicit: c, LastHuman: note})
			if err != nil {
				t.Fatal(err)
			}
			rest, ok := strings.CutPrefix(got.Text, raw)
			if !ok || rest != tail(got.Insert) {
				t.Errorf("%.20q via %s: got text %.60q, want the raw text, a blank line and the insert", raw, c, got.Text)
			}
		}
	}
}

func TestTextsAreReplacedOneByOne(t *testing.T) {
	viaNote := compose.Request{Text: "x", Explicit: note}
	back := compose.Request{Text: "x", LastHuman: note}
	for _, tt := range []struct {
		name           string
		texts          compose.Texts
		onNote, onBack string
	}{
		{"none", compose.Texts{}, compose.DefaultNoteReply, compose.DefaultTerminalReply},
		{"note", compose.Texts{NoteReply: "N"}, "N", compose.DefaultTerminalReply},
		{"terminal", compose.Texts{TerminalReply: "T"}, compose.DefaultNoteReply, "T"},
		{"both", compose.Texts{NoteReply: "N", TerminalReply: "T"}, "N", "T"},
	} {
		n, err1 := tt.texts.Compose(viaNote)
		b, err2 := tt.texts.Compose(back)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if n.Text != "x\n\n"+tt.onNote || b.Text != "x\n\n"+tt.onBack {
			t.Errorf("%s: got %q and %q, want inserts %q and %q", tt.name, n.Text, b.Text, tt.onNote, tt.onBack)
		}
	}
}

// The sentences may change; what they must say may not.
func TestDefaultsSayWhatTheyMust(t *testing.T) {
	for _, want := range []string{
		`docket ask --note "<complete reply>"`,
		`docket done --note "<complete reply>"`,
		`docket park --note "<complete reply>"`,
		"forbids tools", "output only", "Printing the reply does not deliver it", "one message",
	} {
		if !strings.Contains(compose.DefaultNoteReply, want) {
			t.Errorf("DefaultNoteReply: got no %q in it", want)
		}
	}
	for _, want := range []string{"reads your terminal again", "reply in normal output", "not in --note"} {
		if !strings.Contains(compose.DefaultTerminalReply, want) {
			t.Errorf("DefaultTerminalReply: got no %q in it", want)
		}
	}
}

func TestInsertWords(t *testing.T) {
	for i, want := range map[compose.Insert]string{0: "none", 1: "note reply", 2: "terminal reply", 3: "undefined", -1: "undefined"} {
		if got := i.String(); got != want {
			t.Errorf("Insert(%d): got %q, want %q", int(i), got, want)
		}
	}
}
