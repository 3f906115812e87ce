package screen_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

func TestWidth(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"abc", 3},
		{"漢字", 4},
		{"e\u0301", 1},      // e and a combining acute
		{"\u0928\u093f", 1}, // a letter with a vowel sign
		{"👍🏽", 2},           // a thumb and its colour
		{"🇩🇪", 2},
		{"❤\ufe0f", 2},
		{"가", 2},
	} {
		if got := screen.Width(tt.text); got != tt.want {
			t.Errorf("Width(%q): got %d, want %d", tt.text, got, tt.want)
		}
	}
}

func TestCutAndFit(t *testing.T) {
	for _, tt := range []struct {
		text             string
		width            int
		cut, left, right string
	}{
		{"worker", 6, "worker", "worker", "worker"},
		{"worker", 8, "worker", "worker  ", "  worker"},
		{"worker", 4, "wor…", "wor…", "wor…"},
		{"worker", 1, "…", "…", "…"},
		{"worker", 0, "", "", ""},
		{"漢字漢字", 8, "漢字漢字", "漢字漢字", "漢字漢字"},
		{"漢字漢字", 6, "漢字…", "漢字… ", " 漢字…"}, // half a character is none
		{"e\u0301e\u0301", 2, "e\u0301e\u0301", "e\u0301e\u0301", "e\u0301e\u0301"},
	} {
		for name, got := range map[string][2]string{
			"Cut":      {screen.Cut(tt.text, tt.width), tt.cut},
			"Fit":      {screen.Fit(tt.text, tt.width), tt.left},
			"FitRight": {screen.FitRight(tt.text, tt.width), tt.right},
		} {
			if got[0] != got[1] {
				t.Errorf("%s(%q, %d): got %q, want %q", name, tt.text, tt.width, got[0], got[1])
			}
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"run the tests", 20, []string{"run the tests"}},
		{"run the tests", 8, []string{"run the", "tests"}},
		{"run the tests", 7, []string{"run the", "tests"}}, // the space at the break goes
		{"run the tests", 3, []string{"run", "the", "tes", "ts"}},
		{"one\n\ntwo", 8, []string{"one", "", "two"}},
		{"  indented", 20, []string{"  indented"}},
		{"\ta b", 20, []string{"    a b"}},
		{"漢字漢字", 5, []string{"漢字", "漢字"}},
		{"a漢", 1, []string{"a", "漢"}}, // nothing can be done
		{"", 10, []string{""}},
	} {
		var got []string
		for _, p := range screen.Wrap(tt.text, tt.width) {
			got = append(got, p.Text)
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("Wrap(%q, %d): got %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

// Wrapping loses nothing but spaces, keeps to the width, and says where each row begins.
func TestWrapKeepsTheText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"a", "word", " ", "  ", "\n", "\t", "漢字", "e\u0301", "👍🏽", "🇩🇪", "-",
		})).Draw(rt, "text"), "")
		width := rapid.IntRange(2, 12).Draw(rt, "width")
		all, last := "", -1
		for _, p := range screen.Wrap(text, width) {
			if w := screen.Width(p.Text); w > width && p.Text != "    " {
				rt.Fatalf("row %q takes %d columns of %d", p.Text, w, width)
			}
			if p.At < last || p.At > len(text) {
				rt.Fatalf("row %q is said to begin at %d, behind %d, of %d", p.Text, p.At, last, len(text))
			}
			if !strings.HasPrefix(strings.ReplaceAll(text[p.At:], "\t", "    "), p.Text) {
				rt.Fatalf("row %q does not begin at %d of %q", p.Text, p.At, text)
			}
			all, last = all+p.Text, p.At
		}
		if got, want := strings.Join(strings.Fields(all), ""), strings.Join(strings.Fields(text), ""); got != want {
			rt.Fatalf("got %q of %q", got, want)
		}
	})
}
