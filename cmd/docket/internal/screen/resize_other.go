//go:build !unix

package screen

// onResize rings no bell here: the size is asked for with each frame.
func onResize(chan<- struct{}) (stop func()) { return func() {} }
