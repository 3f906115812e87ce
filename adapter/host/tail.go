package host

import (
	"slices"
	"strings"
	"sync"
)

// tail is a writer that keeps the end of what is written.
type tail struct {
	mu  sync.Mutex
	end []byte
}

// Write keeps the end of p and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p[max(0, len(p)-stderrBytes):]...)
	if over := len(t.end) - stderrBytes; over > 0 {
		t.end = slices.Delete(t.end, 0, over)
	}
	return len(p), nil
}

// String returns what was kept, as valid UTF-8.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.end), "")
}
