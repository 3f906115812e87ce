package smallfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/smallfile"
)

// BenchmarkWrite makes a file of 1 KiB hold something else, in each way.
func BenchmarkWrite(b *testing.B) {
	data := []byte(strings.Repeat("prose ", 170))
	for name, write := range calls {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "f")
			b.ReportAllocs()
			for b.Loop() {
				if err := write(path, data); err != nil {
					b.Fatal(err)
				}
				if name == "Create" {
					b.StopTimer()
					if err := os.Remove(path); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkRead reads a file of 1 KiB, and looks for one that is not there.
func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	data := strings.Repeat("prose ", 170)
	if err := smallfile.Swap(filepath.Join(dir, "there"), []byte(data)); err != nil {
		b.Fatal(err)
	}
	for name, want := range map[string]string{"there": data, "none": ""} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := read(b, filepath.Join(dir, name)); got != want {
					b.Fatalf("got %.20q, want %.20q", got, want)
				}
			}
		})
	}
}
