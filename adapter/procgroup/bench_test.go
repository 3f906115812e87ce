//go:build unix

package procgroup_test

import (
	"os/exec"
	"testing"

	"github.com/docket-go/docket/adapter/procgroup"
)

// BenchmarkStartAndKill starts the shortest program that stays, in a group of its own,
// and ends it; beside it, the same program without a group.
func BenchmarkStartAndKill(b *testing.B) {
	for name, tt := range map[string]struct {
		own  func(cmd *exec.Cmd)
		kill func(cmd *exec.Cmd) error
	}{
		"own group": {procgroup.Own, procgroup.Cancel},
		"no group":  {func(*exec.Cmd) {}, func(cmd *exec.Cmd) error { return cmd.Process.Kill() }},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cmd := exec.Command("sleep", "1000")
				tt.own(cmd)
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				if err := tt.kill(cmd); err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err == nil {
					b.Fatal("got a good end, want it killed")
				}
			}
		})
	}
}

// BenchmarkAlive asks for the group of a running program.
func BenchmarkAlive(b *testing.B) {
	cmd, _ := start(b, b.Context(), "sleep 1000 & echo $!; wait")
	for b.Loop() {
		if !procgroup.Alive(cmd.Process) {
			b.Fatal("got nothing of the group alive, want it")
		}
	}
}
