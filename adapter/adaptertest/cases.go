package adaptertest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/adapter"
)

// texts are the texts that transports are known to change on the way.
func texts() []string {
	return []string{
		"plain",
		"two\nlines",
		"blank\n\nline",
		"trailing newline\n",
		"trailing newlines\n\n\n",
		"\nleading newline",
		"  blanks around  ",
		"\ttab\tin\tit\t",
		"-n", "--help", "--", "-",
		"trailing semicolon;", ";", "a ; b \\;",
		"trailing backslash \\", `\n \t \x41 \\`,
		"$HOME ${HOME} $(echo no) `echo no` $$", "%s %d %% %(x) #{pane_id}", "!! !history", "~ * ? [a] {a,b}",
		`"double" 'single' "half 'open`,
		"/quit", "!ls", "@file", "# heading", "? help", ": colon", "> quote", "& and | or < in",
		"Enter", "C-c", "Escape",
		"caf\u00e9 \u4f60\u597d \U0001F600 e\u0301 \u202Eleft\u202C \ufeff",
		"line separators \u2028 \u2029 <b>&amp;</b>",
		"carriage\rreturn and\r\nboth",
		"\x1b[201~ escape \x1b[31m red \x07 bell \x7f",
		"EOF\nEOT\n.\nquit\n",
		`{"json":"text","n":[1,2]}`,
		strings.Repeat("0123456789abcdef", 6400) + "end", // 100 KB on one line
		strings.Repeat("one of many lines\n", 5690) + "end",
	}
}

func (k *kit) fits(text string) bool { return k.MaxBytes == 0 || len(text) <= k.MaxBytes }

func exactTexts(t *testing.T, k *kit) {
	k.takes(t)
	var want []adapter.Prompt
	for i, text := range texts() {
		if k.fits(text) {
			p := prompt(i, text)
			k.take(t, p)
			want = append(want, p)
		}
	}
	k.got(t, want...)
}

func senderAndAttributes(t *testing.T, k *kit) {
	k.takes(t)
	peer := prompt(1, "from a peer")
	peer.From, peer.Session = "peer-1", "another.session_2"
	attributed := prompt(2, "with attributes")
	attributed.Attributes = map[string]string{"ticket": "42", "empty": "", "text": "a=b; \"c\"\n\u4f60"}
	human := prompt(3, "from a human again")
	for _, p := range []adapter.Prompt{peer, attributed, human} {
		k.take(t, p)
	}
	k.got(t, peer, attributed, human)
}

func tooLong(t *testing.T, k *kit) {
	k.takes(t)
	if k.MaxBytes == 0 {
		t.Skip("this adapter takes texts of any length")
	}
	long := prompt(1, strings.Repeat("x", k.MaxBytes+1))
	if answer, err := k.insert(t.Context(), t, long); answer != adapter.Refused {
		t.Errorf("Insert of %d bytes: got %s, %v, want it refused", len(long.Text), answer, err)
	}
	fitting := prompt(2, strings.Repeat("x", k.MaxBytes))
	k.take(t, fitting)
	k.got(t, fitting)
}

func refusal(t *testing.T, k *kit) {
	k.takes(t)
	if k.Refuse == nil {
		t.Skip("this harness cannot be made to refuse")
	}
	first := prompt(1, "before")
	k.take(t, first)
	k.got(t, first)
	if err := k.Refuse(); err != nil {
		t.Fatalf("harness: Refuse: %v", err)
	}
	refused := prompt(2, "refused")
	for range 2 {
		if answer, err := k.insert(t.Context(), t, refused); answer != adapter.Refused {
			t.Fatalf("Insert: got %s, %v, want it refused", answer, err)
		}
	}
	if k.Restore == nil {
		return
	}
	if err := k.Restore(); err != nil {
		t.Fatalf("harness: Restore: %v", err)
	}
	k.notPresent(t, refused.MID)
	k.takeSoon(t, refused) // the same mid, as a later pass would
	last := prompt(3, "after")
	k.takeSoon(t, last)
	k.got(t, first, refused, last)
}

func neverTakes(t *testing.T, k *kit) {
	if !k.NeverTakes {
		t.Skip("this adapter takes prompts")
	}
	for i, text := range texts() {
		if answer, err := k.insert(t.Context(), t, prompt(i, text)); answer != adapter.Refused {
			t.Errorf("Insert(%.20q): got %s, %v, want it refused", text, answer, err)
		}
	}
	k.got(t)
}

func endedBefore(t *testing.T, k *kit) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := prompt(1, "too late")
	answer, err := k.insert(ctx, t, p)
	if k.NeverTakes {
		return
	}
	last := prompt(2, "in time")
	k.takeSoon(t, last)
	switch answer {
	case adapter.Taken:
		k.got(t, p, last)
	case adapter.Refused:
		k.got(t, last)
	default:
		t.Errorf("Insert after the end of its context: got unconfirmed, %v, want refused: it need not have begun", err)
	}
}

func endsInside(t *testing.T, k *kit) {
	k.takes(t)
	if k.Hang == nil {
		t.Skip("this harness cannot be made to hang")
	}
	begun, err := k.Hang()
	if err != nil {
		t.Fatalf("harness: Hang: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var answer adapter.Answer
	var returned error
	done := make(chan struct{})
	go func() {
		defer close(done)
		answer, returned = k.insert(ctx, t, prompt(1, "never answered"))
	}()
	k.eventually(t, begun, func() string { return "harness: got no beginning of the prompt, want one" })
	cancel()
	<-done
	if answer != adapter.Unconfirmed {
		t.Errorf("Insert whose context ended inside: got %s, %v, want it unconfirmed", answer, returned)
	}
}

func concurrentUse(t *testing.T, k *kit) {
	k.takes(t)
	const callers, each = 4, 3
	ctx, cancel := context.WithTimeout(t.Context(), k.Patience)
	defer cancel()
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				p := callersPrompt(c, i)
				answer, err := k.insert(ctx, t, p)
				for answer == adapter.Refused && ctx.Err() == nil {
					answer, err = k.insert(ctx, t, p)
				}
				if answer != adapter.Taken {
					t.Errorf("Insert(%s): got %s, %v, want taken in the end", p.MID, answer, err)
					return
				}
			}
		})
	}
	wg.Wait()
	k.gotFromEach(t, callers, each)
}

// callersPrompt returns the ith prompt of one of several callers at once.
func callersPrompt(caller, i int) adapter.Prompt {
	return prompt(100*caller+i, fmt.Sprintf("caller %d, prompt %d\nsecond line", caller, i))
}

// gotFromEach checks that every caller's prompts arrived once, whole, and in the
// caller's order.
func (k *kit) gotFromEach(t *testing.T, callers, each int) {
	t.Helper()
	got := k.received(t, callers*each)
	if len(got) != callers*each {
		t.Errorf("program: got %d prompts, want %d", len(got), callers*each)
	}
	next := make([]int, callers)
	for _, p := range got {
		c := -1
		for caller := range callers {
			if next[caller] < each && same(p, k.Expect(callersPrompt(caller, next[caller]))) {
				c = caller
			}
		}
		if c < 0 {
			t.Fatalf("program: got %s, want the next prompt of one of the callers", show(p))
		}
		next[c]++
	}
}
