// Package step names the points between two changes of files, so that a crash
// test can die at each of them.
//
// # What it keeps
//
// One hook for the whole process. The packages of docket call [At] between any
// two system calls that change a file; unless a test has set a hook with [Hook],
// a call reads one pointer and returns.
//
// # Guarantees
//
// At never fails and never changes anything itself. A hook runs on the calling
// goroutine, inside whatever locks that goroutine holds, and may end the
// process; that is its purpose. Both functions are safe for concurrent use.
//
// # Crashes and format
//
// It keeps nothing on disk.
package step

import "sync/atomic"

var hook atomic.Pointer[func(string)]

// At reports to the hook, if there is one, that the named step was reached.
func At(name string) {
	if h := hook.Load(); h != nil {
		(*h)(name)
	}
}

// Hook sets the function that [At] calls, and returns a function that sets back
// what was there before. A nil h removes the hook.
func Hook(h func(name string)) (restore func()) {
	var next *func(string)
	if h != nil {
		next = &h
	}
	before := hook.Swap(next)
	return func() { hook.Store(before) }
}
