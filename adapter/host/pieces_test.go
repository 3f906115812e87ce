package host_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/adapter/host"
	"pgregory.net/rapid"
)

// A said is what Pieces emitted.
type said struct {
	mu  sync.Mutex // the driver's
	all []string
}

func (s *said) pieces(o host.PieceOptions) *host.Pieces {
	return host.NewPieces(o, func(item string, v host.Value) {
		kind := "text"
		text, is := v.(host.Text)
		if !is {
			kind, text = "thought", host.Text(v.(host.Thought))
		}
		s.all = append(s.all, fmt.Sprintf("%s %s %s", kind, item, text.Text))
	}, func(do func()) {
		s.mu.Lock()
		defer s.mu.Unlock()
		do()
	})
}

func TestPieces(t *testing.T) {
	type bit struct {
		text, item string
		thought    bool
	}
	for _, tt := range []struct {
		name string
		o    host.PieceOptions
		bits []bit
		want []string
	}{
		{"nothing", host.PieceOptions{}, []bit{{"", "a", false}}, nil},
		{"joined", host.PieceOptions{}, []bit{{"one ", "a", false}, {"", "b", true}, {"two", "a", false}}, []string{"text a one two"}},
		{"another item", host.PieceOptions{}, []bit{{"one", "a", false}, {"two", "b", false}}, []string{"text a one", "text b two"}},
		{"a thought", host.PieceOptions{}, []bit{{"one", "a", false}, {"two", "a", true}}, []string{"text a one", "thought a two"}},
		{"enough", host.PieceOptions{SizeBytes: 4}, []bit{{"one", "a", false}, {"two", "a", false}, {"three", "a", false}, {"4", "a", false}},
			[]string{"text a onetwo", "text a three", "text a 4"}},
		{"no delay", host.PieceOptions{Delay: -1}, []bit{{"one", "a", false}, {"two", "a", false}}, []string{"text a one", "text a two"}},
		{"no size", host.PieceOptions{SizeBytes: -1}, []bit{{"one", "a", false}, {"two", "a", false}}, []string{"text a one", "text a two"}},
	} {
		s := &said{}
		p := s.pieces(tt.o)
		s.mu.Lock()
		for _, b := range tt.bits {
			p.Say(b.text, b.item, b.thought)
		}
		p.Flush()
		p.Flush()
		s.mu.Unlock()
		if !slices.Equal(s.all, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, s.all, tt.want)
		}
	}
}

// TestPieceAfterItsTime comes by itself, once, and without what came after it.
func TestPieceAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &said{}
		p := s.pieces(host.PieceOptions{})
		say := func(text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			p.Say(text, "a", false)
		}
		after := func(d time.Duration, want string) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := strings.Join(s.all, ", "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		say("one ")
		after(499*time.Millisecond, "")
		say("two")
		after(time.Millisecond, "text a one two")
		say("three")
		s.mu.Lock()
		p.Flush()
		s.mu.Unlock()
		say("four") // is not flushed by the timer of three
		after(499*time.Millisecond, "text a one two, text a three")
		after(time.Hour, "text a one two, text a three, text a four")
		say("five")
		s.mu.Lock() // until the time of five is over, so that its timer waits
		<-time.After(time.Second / 2)
		p.Flush()
		p.Say("six", "a", false)
		s.mu.Unlock()
		after(0, "text a one two, text a three, text a four, text a five")
	})
}

// TestPiecesLoseNothing compares what is emitted with what was said.
func TestPiecesLoseNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &said{}
		p := s.pieces(host.PieceOptions{Delay: time.Hour, SizeBytes: rapid.IntRange(1, 10).Draw(rt, "size")})
		want := map[string]string{}
		for range rapid.IntRange(0, 20).Draw(rt, "bits") {
			text, item := rapid.StringN(0, 8, 30).Draw(rt, "text"), rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "item")
			p.Say(text, item, false)
			want[item] += text
		}
		p.Flush()
		got := map[string]string{}
		for _, piece := range s.all {
			item, text, _ := strings.Cut(strings.TrimPrefix(piece, "text "), " ")
			got[item] += text
		}
		for _, item := range []string{"a", "b"} {
			if got[item] != want[item] {
				rt.Errorf("%s: got %q, want %q", item, got[item], want[item])
			}
		}
	})
}
