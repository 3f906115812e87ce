package exec_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/exec"
)

func Example() {
	agent, err := exec.New(exec.Options{Command: `
		read -r first
		case $first in
		wait*) echo "still at $DOCKET_MID" >&2; exit 75 ;;
		esac`})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range []adapter.Prompt{
		{MID: "m1", Session: "worker-1", Text: "run the tests"},
		{MID: "m2", Session: "worker-1", Text: "wait for me"},
	} {
		err := agent.Insert(context.Background(), p)
		fmt.Println(p.MID, adapter.AnswerOf(err), errors.Is(err, adapter.ErrBusy), err)
	}
	// Output:
	// m1 taken false <nil>
	// m2 refused true exec: busy, exit status 75: still at m2
}
