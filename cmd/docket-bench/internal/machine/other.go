//go:build !unix

package machine

import (
	"errors"
	"os"
	"time"
)

// Lock waits for the exclusive advisory lock of an open file.
func Lock(*os.File) error { return errors.ErrUnsupported }

// Unlock frees it.
func Unlock(*os.File) error { return errors.ErrUnsupported }

// Settle does nothing here.
func Settle() {}

// Spent is the processor time that this process has used.
func Spent() (time.Duration, error) { return 0, errors.ErrUnsupported }
