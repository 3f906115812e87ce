//go:build unix

package oneshot

import (
	"syscall"

	"github.com/docket-go/docket/adapter/host"
)

// terminate asks the program's process group to end.
func terminate(p *host.Process) {
	select {
	case <-p.Done(): // the number of the group may be another's by now
	default:
		_ = syscall.Kill(-p.Pid(), syscall.SIGTERM)
	}
}
