package main

import (
	"context"
	"iter"
	"strings"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
)

// cutNotice returns what was said in a text that an agent gets, and the name of the notice
// behind it; empty means that there is none. A text that another program composed with
// a notice of its own is all said.
func cutNotice(text string) (said, notice string) {
	for _, n := range []struct{ insert, name string }{
		{compose.DefaultNoteReply, "reply notice"},
		{compose.DefaultTerminalReply, "terminal notice"},
	} {
		if said, cut := strings.CutSuffix(text, "\n\n"+n.insert); cut {
			return said, n.name
		}
	}
	return text, ""
}

// spoken is a text that an agent gets, for people: what was said, and that there is a
// notice behind it.
func spoken(text string) string {
	said, notice := cutNotice(text)
	block := indent(plain(said), "    | ")
	if notice != "" {
		block += "\n    + " + notice
	}
	return block
}

// debts is [dispatch.Dispatcher.Debts] for people: of the notice behind a text it says
// in one line that there is one.
func (c *call) debts(ctx context.Context, id string) iter.Seq2[dispatch.Debt, error] {
	return func(yield func(dispatch.Debt, error) bool) {
		for e, err := range c.dispatch.Debts(ctx, id) {
			if said, notice := cutNotice(e.Text); notice != "" {
				e.Text = said + "\n+ " + notice
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
