package file_test

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
)

// BenchmarkInsert puts one prompt of 300 bytes into the file, on stable storage.
func BenchmarkInsert(b *testing.B) {
	a, err := file.New(file.Options{Path: filepath.Join(b.TempDir(), "prompts.ndjson")})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		err := a.Insert(context.Background(), adapter.Prompt{MID: strconv.Itoa(i), Session: "s1", Text: strings.Repeat("prose ", 50)})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLookup looks for the oldest and for no prompt of 1,000.
func BenchmarkLookup(b *testing.B) {
	a, err := file.New(file.Options{Path: filepath.Join(b.TempDir(), "prompts.ndjson")})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		if err := a.Insert(context.Background(), adapter.Prompt{MID: strconv.Itoa(i), Session: "s1", Text: "prose"}); err != nil {
			b.Fatal(err)
		}
	}
	for mid, want := range map[string]adapter.Presence{"0": adapter.Present, "none": adapter.Absent} {
		b.Run(want.String(), func(b *testing.B) {
			for b.Loop() {
				if got, err := a.Lookup(context.Background(), mid); got != want || err != nil {
					b.Fatalf("got %v, %v, want %v", got, err, want)
				}
			}
		})
	}
}
