package exec_test

import (
	"context"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/exec"
)

// BenchmarkInsert runs the shortest program there is for one prompt of 300 bytes: what
// the process itself costs.
func BenchmarkInsert(b *testing.B) {
	a, err := exec.New(exec.Options{Command: "cat >/dev/null"})
	if err != nil {
		b.Fatal(err)
	}
	p := adapter.Prompt{MID: "m1", Session: "s1", Text: strings.Repeat("prose ", 50)}
	b.ReportAllocs()
	for b.Loop() {
		if err := a.Insert(context.Background(), p); err != nil {
			b.Fatal(err)
		}
	}
}
