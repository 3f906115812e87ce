package file_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
)

func Example() {
	dir, err := os.MkdirTemp("", "docket-file")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "prompts.ndjson")
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	a, err := file.New(file.Options{Path: path, Now: func() time.Time { return noon }})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	err = a.Insert(ctx, adapter.Prompt{MID: "m1", Session: "worker-1", Text: "run the <slow> tests\nand report"})
	fmt.Println(adapter.AnswerOf(err))

	line, _ := os.ReadFile(path)
	fmt.Print(string(line))
	for _, mid := range []string{"m1", "m2"} {
		presence, err := a.Lookup(ctx, mid)
		fmt.Println(mid, presence, err)
	}
	// Output:
	// taken
	// {"ts":"2026-01-02T12:00:00.000Z","mid":"m1","session":"worker-1","from":null,"text":"run the <slow> tests\nand report","attributes":{}}
	// m1 present <nil>
	// m2 absent <nil>
}
