package oneshot_test

import (
	"fmt"
	"strings"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// A host runs one process for each prompt.
func Example() {
	preset, err := oneshot.Find("codex")
	if err != nil {
		fmt.Println(err)
		return
	}
	process := host.ProcessOptions{Args: append(preset.Command, "-m", "gpt-5")}
	broker := host.Options{Start: oneshot.Starter(preset, process, oneshot.Options{})}
	fmt.Println(broker.Start != nil)
	for _, p := range oneshot.Presets() {
		fmt.Printf("%s: %s\n", p.Name, strings.Join(p.Command, " "))
	}
	// Output:
	// true
	// claude: claude -p --output-format stream-json --verbose
	// codex: codex exec --json --skip-git-repo-check
	// gemini: gemini -o stream-json
	// opencode: opencode run --format json
	// pi: pi --mode json -p
}
