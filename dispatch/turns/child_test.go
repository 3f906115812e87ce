//go:build linux || darwin

package turns_test

func child(string) int { return 2 }
