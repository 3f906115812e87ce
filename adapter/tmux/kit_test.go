//go:build unix

package tmux_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		p := startServer(t).open()
		a := p.adapter(t.TempDir())
		return adaptertest.Harness{
			Adapter:  a,
			Received: func() ([]adapter.Prompt, error) { return p.received() },
			// A pane gets the text alone.
			Expect:           func(q adapter.Prompt) adapter.Prompt { return adapter.Prompt{Text: a.Sanitise(q.Text)} },
			Refuse:           func() error { _, err := p.try("copy-mode", "-t", p.id); return err },
			Restore:          func() error { _, err := p.try("send-keys", "-t", p.id, "-X", "cancel"); return err },
			LookupMayNotTell: true,
			Patience:         patience,
			Hang: func() (func() bool, error) {
				begun := func() bool { b, err := os.ReadFile(p.log); return err == nil && len(b) > 0 }
				return begun, os.WriteFile(p.log+".hang", nil, 0o600)
			},
		}
	})
}

// received returns what the reader has logged as prompts.
func (p *pane) received() (got []adapter.Prompt, err error) {
	b, err := os.ReadFile(p.log + ".prompts")
	for line := range strings.Lines(string(b)) {
		var said struct{ Content string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			return nil, err
		}
		got = append(got, adapter.Prompt{Text: said.Content})
	}
	return got, err
}
