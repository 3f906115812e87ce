package stamp_test

import (
	"os"
	"testing"

	"github.com/docket-go/docket/lock/stamp"
)

// BenchmarkStands asks whether names are what they were; beside it, what it spares: a
// look at one of them.
func BenchmarkStands(b *testing.B) {
	dir := b.TempDir()
	d, m := marked(b, dir)
	b.Run("stamp", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !m.Stands(d, 0) {
				b.Fatal("got a change, want none")
			}
		}
	})
	b.Run("lstat", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := os.Lstat(dir); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLook is what the first question costs: a directory is opened and looked at.
func BenchmarkLook(b *testing.B) {
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		d, err := stamp.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		var m stamp.Mark
		m.Look(d)
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
