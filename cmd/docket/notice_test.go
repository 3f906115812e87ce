package main

import (
	"testing"

	"github.com/docket-go/docket/compose"
)

func TestCutNotice(t *testing.T) {
	for _, tt := range []struct{ name, text, said, notice string }{
		{"none", "run it", "run it", ""},
		{"a note", "run it\n\n" + compose.DefaultNoteReply, "run it", "reply notice"},
		{"a terminal again", "run it\n\n" + compose.DefaultTerminalReply, "run it", "terminal notice"},
		{"a notice that is what was said", compose.DefaultNoteReply, compose.DefaultNoteReply, ""},
		{"a notice that was quoted", "> " + compose.DefaultNoteReply + "\n\nwhy?", "> " + compose.DefaultNoteReply + "\n\nwhy?", ""},
		{"newlines of the text stay", "run it\n\n\n" + compose.DefaultNoteReply, "run it\n", "reply notice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if said, notice := cutNotice(tt.text); said != tt.said || notice != tt.notice {
				t.Errorf("got %q and %q, want %q and %q", said, notice, tt.said, tt.notice)
			}
		})
	}
}
