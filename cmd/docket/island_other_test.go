//go:build !linux

package main

// island needs mounts that only Linux lets everybody make.
func island() {}

func hasIslands() bool { return false }
