package queue_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/queue"
)

// The short way to read a line says what the long one says, or nothing.
func TestOwnLinesReadAlike(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z"\\{}\[\],:\n<é🎉 ]{0,12}`))
	rapid.Check(t, func(rt *rapid.T) {
		e := queue.Entry{
			MID: rapid.StringMatching(`[a-z0-9"\\é-]{1,20}`).Draw(rt, "mid"), From: text.Draw(rt, "from"), Text: text.Draw(rt, "text"),
			EnqueuedAt: time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(rt, "at")).UTC(),
		}
		if rapid.Bool().Draw(rt, "later life") {
			e.FromLife = rapid.Uint64Min(1).Draw(rt, "life")
		}
		if rapid.Bool().Draw(rt, "keyed") {
			e.Dispatch = &queue.Dispatch{Operation: text.Draw(rt, "operation"), RequestDigest: text.Draw(rt, "digest")}
		}
		if rapid.Bool().Draw(rt, "attributes") {
			e.Attributes = rapid.MapOfN(text, text, 1, 4).Draw(rt, "map")
		}
		if rapid.Bool().Draw(rt, "sequence") {
			e.Seq, e.HasSeq = rapid.Uint64().Draw(rt, "seq"), true
		}
		line, err := queue.Encode(e)
		if err != nil {
			rt.Fatal(err)
		}
		if got, ok := queue.DecodeOwn(line); !ok || !reflect.DeepEqual(got, e) {
			rt.Fatalf("short way: got %+v, %v of %s, want %+v", got, ok, line, e)
		}
		if got, err := queue.DecodeAny(line); err != nil || !reflect.DeepEqual(got, e) {
			rt.Fatalf("long way: got %+v, %v of %s, want %+v", got, err, line, e)
		}
		compareWays(rt, change(rt, line))
	})
}

// change edits a line in a drawn place.
func change(rt *rapid.T, line []byte) []byte {
	i := rapid.IntRange(0, len(line)-1).Draw(rt, "place")
	junk := rapid.SampledFrom([]string{"", "\"", "\\", "0", " ", "}", "{", ",", "\x00", "\xff", "null", `,"x":1`, `,"fromLife":0`}).Draw(rt, "junk")
	keep := rapid.IntRange(i, min(i+2, len(line))).Draw(rt, "behind")
	return append(append(append([]byte(nil), line[:i]...), junk...), line[keep:]...)
}

func compareWays(t tester, line []byte) {
	t.Helper()
	short, ok := queue.DecodeOwn(line)
	if !ok {
		return
	}
	long, err := queue.DecodeAny(line)
	if err != nil || !reflect.DeepEqual(short, long) {
		t.Fatalf("%q: the short way says %+v, the long way %+v, %v", line, short, long, err)
	}
}

func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		lineA, `{"mid":"a","text":"\u00e9\"","from":"b","dispatch":{"operation":"o","requestDigest":"d"},"attributes":{"k":"v"},"seq":1,"enqueuedAt":"2027-01-15T08:00:00.123Z"}`,
		`{"mid":"a","text":"\ud800","from":null,"seq":01}`, `{"mid":"","text":"","from":""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) { compareWays(t, line) })
}
