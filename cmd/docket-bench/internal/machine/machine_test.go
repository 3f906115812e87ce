package machine_test

import (
	"runtime"
	"testing"

	"github.com/docket-go/docket/cmd/docket-bench/internal/machine"
)

func TestDescribe(t *testing.T) {
	m := machine.Describe(t.TempDir())
	if m.OS != runtime.GOOS || m.Cores < 1 || m.Go == "" {
		t.Errorf("got %+v", m)
	}
	if runtime.GOOS == "linux" && m.FileSystem == "" {
		t.Error("the file system is not known")
	}
}

// Memory that was used and given back still counts.
func TestGrowth(t *testing.T) {
	highest, err := machine.Growth()
	if err != nil {
		t.Skip(err)
	}
	const size = 64 << 20
	block := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		block[i] = 1
	}
	runtime.KeepAlive(block)
	if got, err := highest(); err != nil || got < size/2 {
		t.Errorf("got %d bytes, %v, want about %d", got, err, size)
	}
}
