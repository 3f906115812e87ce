package main

import "github.com/docket-go/docket/cmd/docket-bench/internal/crew"

// roles are what this program does as its own child.
var roles = map[string]crew.Role{
	"append":        appendRole,
	"follow-docket": followRole,
	"follow-raw":    followRawRole,
	"fleet-docket":  fleetRole,
	"fleet-idle":    fleetIdleRole,
	"fleet-raw":     fleetRawRole,
	"lock":          lockRole,
	"peak":          peakRole,
	"waiting":       waitingRole,
}
