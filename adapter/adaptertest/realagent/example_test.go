package realagent_test

import (
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
)

// A test starts a model server, makes a home that points at it, and runs the
// program there. What reached the model is read from the server.
func Example() {
	testOneTurn := func(t *testing.T) {
		model, err := fakemodel.Start(fakemodel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer model.Close()
		home := realagent.New(t, realagent.Gemini, model.URL()) // skips if it is not installed
		cmd := home.Command(home.Program.Prompt...)
		cmd.Stdin = strings.NewReader("run the tests")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("got %q, %v", out, err)
		}
		if turns := model.Turns(); len(turns) != 1 {
			t.Errorf("got turns %q, want one", turns)
		}
	}
	_ = testOneTurn
}
