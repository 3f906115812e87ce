package compose_test

import (
	"fmt"

	"github.com/docket-go/docket/compose"
)

// A human who wrote from a phone is back at the terminal.
func ExampleTexts_Compose() {
	texts := compose.Texts{NoteReply: "(Reply with docket ask --note.)"}
	phone, _ := texts.Compose(compose.Request{Text: "Is the build green?", Explicit: compose.Note})
	desk, _ := texts.Compose(compose.Request{Text: "Good. Go on.", LastHuman: phone.Via})
	again, _ := texts.Compose(compose.Request{Text: "And the tests?", LastHuman: desk.Via})
	for _, c := range []compose.Composed{phone, desk, again} {
		fmt.Printf("%s, %s:\n%s\n---\n", c.Via, c.Insert, c.Text)
	}
	// Output:
	// note, note reply:
	// Is the build green?
	//
	// (Reply with docket ask --note.)
	// ---
	// terminal, terminal reply:
	// Good. Go on.
	//
	// [docket] The sender reads your terminal again: reply in normal output, not in --note.
	// ---
	// terminal, none:
	// And the tests?
	// ---
}

// An agent that runs without a terminal answers in notes, whoever asks.
func ExampleTexts_Compose_headless() {
	c, err := compose.Texts{}.Compose(compose.Request{Text: "status?", From: "worker-2", Headless: true})
	fmt.Println(c.Via, c.Insert, err)
	// Output: note note reply <nil>
}

func ExampleParseChannel() {
	_, err := compose.ParseChannel("email")
	fmt.Println(err)
	// Output: compose: unknown reply channel: "email": use note or terminal
}
