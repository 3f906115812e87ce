//go:build !linux

package main

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/cmd/docket-bench/internal/crew"
	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
)

// rawStamper needs inotify at the other end.
func rawStamper(string) (stamper, func() error, error) {
	return nil, nil, fmt.Errorf("%w: no inotify", race.ErrAbsent)
}

// followRawRole needs inotify.
func followRawRole([]string) (crew.Worker, error) { return nil, errors.ErrUnsupported }

// watchRaw needs inotify.
func watchRaw([]string) error { return errors.ErrUnsupported }
