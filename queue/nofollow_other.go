//go:build !unix

package queue

const openFlags = 0
