package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
)

func Example() {
	main()
	// Output: delivered: true spooled: 1
}

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		dir := t.TempDir()
		return adaptertest.Harness{
			Adapter:  spool{dir},
			Received: func() ([]adapter.Prompt, error) { return read(dir) },
			Refuse:   func() error { return os.Rename(dir, dir+"-away") },
			Restore:  func() error { return os.Rename(dir+"-away", dir) },
		}
	})
}

// read returns the spooled prompts in the order in which they came.
func read(dir string) ([]adapter.Prompt, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var prompts []adapter.Prompt
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		var p adapter.Prompt
		if err := json.Unmarshal(content, &p); err != nil {
			return nil, err
		}
		prompts = append(prompts, p)
	}
	return prompts, nil
}
