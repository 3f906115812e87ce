package dispatch_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
)

// Somebody who knows no lock puts another file in the place of the queue while it is
// repaired. The repair writes no message to the place of another: it is refused, and the
// next one finds all.
func TestRepairOfAQueueThatIsReplacedMeanwhile(t *testing.T) {
	for window, add := range map[int]string{0: "", 1: "", 2: `{"mid":"zz","text":"of nobody","from":null}`} {
		t.Run(fmt.Sprint("window ", window), func(t *testing.T) { replaceMeanwhile(t, window, add) })
	}
}

// replaceMeanwhile lets a repair that goes through the queue in parts of that size find
// another queue than it planned for: one with the third message in the place of the first,
// or one with a message more that the repair would keep.
func replaceMeanwhile(t *testing.T, window int, add string) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	var want []string
	for _, text := range []string{"aaa", "bbb", "ccc"} {
		want = append(want, w.send("s1", dispatch.Message{Text: text}).MID)
	}
	path := w.path("s1", "pending.json")
	content, err := os.ReadFile(path)
	must(t, err)
	content = regexp.MustCompile(`,"crc":\d+`).ReplaceAll(content, nil) // so that all lines are of one length
	damaged := bytes.Replace(content, []byte(`"text":"bbb"`), []byte(`"text":"b`+"\x00"+`b"`), 1)
	must(t, os.WriteFile(path, damaged, 0o600))
	w.reopen(dispatch.Options{})
	lines := bytes.SplitAfter(damaged, []byte("\n"))
	first, third := lines[1], append(bytes.TrimSuffix(lines[3], []byte("\n")), ",\n"...)
	if len(first) != len(third) {
		t.Fatalf("got lines of %d and %d bytes, want the same", len(first), len(third))
	}
	if add == "" {
		lines[1] = third
	} else {
		lines[3] = append(third, add+"\n"...)
	}
	replaced := bytes.Join(lines, nil)
	restore := step.Hook(func(name string) {
		if name == "dispatch: repair planned" {
			must(t, os.WriteFile(path, replaced, 0o600))
		}
	})
	dispatch.SetWindow(w.Dispatcher, window)
	_, err = w.Repair(t.Context(), "s1")
	restore()
	wantIs(t, err, queue.ErrCorrupt)
	now, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Equal(now, replaced) {
		t.Errorf("got %q, want the file as it was put there", now)
	}
	_, err = w.Repair(t.Context(), "s1")
	must(t, err)
	if add != "" {
		want = append(want, "zz")
	}
	wantEqual(t, "owed", w.pending("s1"), want)
}
