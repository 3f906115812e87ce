//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package smallfile

const openFlags = 0
