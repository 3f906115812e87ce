// Package prose makes the messages that every contestant stores: instructions such
// as people and agents give to an agent, each a little different.
//
// # What it keeps
//
// A pool of texts, the same in every run.
//
// # Guarantees
//
// The n-th message is the same in every process, so that processes can share a log.
// Its line, with which a log without docket's own fields would store it, is
// [LineBytes] long. All functions may be called at the same time.
//
// # Crashes
//
// Nothing of it is on disk.
//
// # Format
//
// That of a public line of package timeline.
package prose

import (
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/docket-go/docket/timeline"
)

// LineBytes is the length of a [Line], its newline included.
const LineBytes = 300

// poolSize is the number of different texts.
const poolSize = 4096

// Began is the time of the first message.
var Began = time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)

var words = strings.Fields(`please look at the parser again before you go on there is a test that fails on a slow
	machine run it ten times and tell me what you see do not touch the public interface keep the old name as an
	alias write down why the lock is taken first and who may wait for it then open one small change with its
	test inside I read your plan and would split the second step since the reader does not need to know about
	sealed files merge main before you push the linter has become stricter with unused results and wrapped
	errors when the build is green say so in one line otherwise send the first error whole with its file`)

// pool is made when it is first asked for: a child that only reads has no use for it.
var pool = sync.OnceValues(fill)

func fill() (texts []string, lines [][]byte) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range poolSize {
		bare := timeline.Event{Time: Began, Kind: timeline.KindSent, MID: MID(uint64(i))}
		room := LineBytes - 1 - len(bare.JSON())
		var b strings.Builder
		for b.Len() < room {
			b.WriteString(words[random.IntN(len(words))])
			b.WriteByte(' ')
		}
		bare.Text = b.String()[:room]
		texts = append(texts, bare.Text)
		lines = append(lines, append(bare.JSON(), '\n'))
	}
	return texts, lines
}

// MID is the id of the n-th message.
func MID(n uint64) string {
	id := []byte("01980a5b-7e1c-7000-8000-000000000000")
	for i := range 12 {
		id[len(id)-1-i] += byte(n % 10)
		n /= 10
	}
	return string(id)
}

// Text is what the n-th message says.
func Text(n uint64) string {
	texts, _ := pool()
	return texts[n%poolSize]
}

// Line is a message as one line with its newline. Lines are shared, and must not be
// changed; their ids come again.
func Line(n uint64) []byte {
	_, lines := pool()
	return lines[n%poolSize]
}

// Sent is the n-th message for a timeline. Nobody owes it to anybody.
func Sent(n uint64) timeline.Sent {
	return timeline.Sent{Time: At(n), MID: MID(n), Text: Text(n), NoDebt: true}
}

// At is when the n-th message was sent.
func At(n uint64) time.Time { return Began.Add(time.Duration(n) * 250 * time.Millisecond) }
