package main

import (
	"context"
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

// debts is [dispatch.Dispatcher.Pending] for people: of the notice behind a text it says
// in one line that there is one.
func (c *call) debts(ctx context.Context, id string) ([]dispatch.Debt, error) {
	owed, err := c.dispatch.Pending(ctx, id)
	for i, e := range owed {
		if said, notice := cutNotice(e.Text); notice != "" {
			owed[i].Text = said + "\n+ " + notice
		}
	}
	return owed, err
}
