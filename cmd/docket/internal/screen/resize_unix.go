//go:build unix

package screen

import (
	"os"
	"os/signal"
	"syscall"
)

// onResize rings the bell after each change of the terminal's size, until stop.
func onResize(bell chan<- struct{}) (stop func()) {
	came, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-came:
				select {
				case bell <- struct{}{}:
				default:
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(came)
		close(done)
	}
}
