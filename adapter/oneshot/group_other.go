//go:build !unix

package oneshot

import "github.com/docket-go/docket/adapter/host"

// terminate does nothing: here [host.Process.Close] has to end the program.
func terminate(*host.Process) {}
