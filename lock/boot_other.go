//go:build !linux && !darwin

package lock

// bootID cannot tell boots apart on this platform.
func bootID() string { return unknownBoot }
