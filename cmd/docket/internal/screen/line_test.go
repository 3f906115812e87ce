package screen_test

import (
	"testing"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

func TestEncode(t *testing.T) {
	for _, tt := range []struct {
		name    string
		line    screen.Line
		width   int
		noColor bool
		want    string
	}{
		{"plain", screen.Of("text", screen.Plain), 10, false, "text"},
		{"styles", screen.Line{Spans: []screen.Span{{"a", screen.Dim}, {"b", screen.Accent}}}, 10, false, "\x1b[2ma\x1b[0m\x1b[36mb\x1b[0m"},
		{"no colour", screen.Line{Spans: []screen.Span{{"a", screen.Dim}, {"b", screen.Accent}, {"c", screen.Alarm}}}, 10, true, "\x1b[2ma\x1b[0mb\x1b[1mc\x1b[0m"},
		{"a selected row has one look", screen.Line{Spans: []screen.Span{{"a", screen.Alarm}}, Selected: true}, 10, false, "\x1b[7ma\x1b[0m"},
		{"cut", screen.Line{Spans: []screen.Span{{"abc", screen.Plain}, {"def", screen.Plain}}}, 5, false, "abcd…\x1b[6G"},
		{"nothing behind the end", screen.Line{Spans: []screen.Span{{"abc", screen.Plain}, {"def", screen.Dim}}}, 3, false, "abc"},
		// Where the terminal has another opinion about a width, the rest stands right.
		{"wide", screen.Line{Spans: []screen.Span{{"漢", screen.Plain}, {"b", screen.Plain}}}, 10, false, "漢\x1b[3Gb"},
		{"what acts", screen.Of("a\x1b[2Jb\u202e\xff", screen.Plain), 20, false, "a?[2Jb??"},
	} {
		if got := screen.Encode(tt.line, tt.width, tt.noColor); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
