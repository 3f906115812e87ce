//go:build linux || darwin

package host_test

func child(string) int { return 2 }
