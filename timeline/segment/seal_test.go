package segment_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// filled makes a log of several segments and returns what is in it.
func filled(t tb, f *fixture, lines int) (want []item) {
	next := uint64(0)
	for i := range lines {
		id := fmt.Sprint("m", i)
		if i%5 == 4 {
			f.write(t, private(id))
			want = append(want, item{id, false, next})
			continue
		}
		f.write(t, fmt.Sprintf(`{"kind":"p","id":%q,"key":"k%d"}`, id, i%7))
		want = append(want, item{id, true, next})
		next++
	}
	return want
}

func TestSealKeepsEveryReadersResult(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 900})
	defer f.close()
	want := filled(t, f, 60)
	ahead, err := f.log.Reader(context.Background(), 10)
	must(t, err)
	defer ahead.Close()
	if line, err := ahead.Next(context.Background()); err != nil || line.Seq != 10 {
		t.Fatalf("got %v, %v", line.Seq, err)
	}
	plain := map[int][]byte{}
	for i := 1; !isNotExist(segmentPath(f, i)); i++ {
		plain[i] = fileBytes(t, segmentPath(f, i))
	}
	sealed, err := f.log.Seal(context.Background(), f.locks)
	must(t, err)
	if len(sealed) != len(plain)-1 || len(sealed) < 3 {
		t.Fatalf("got %d sealed segments of %d", len(sealed), len(plain))
	}
	for _, s := range sealed {
		if !isNotExist(segmentPath(f, int(s.Segment))) {
			t.Errorf("segment %d: the plain file is still there", s.Segment)
		}
	}
	unpackWithZstd(t, sealed, plain)

	got, bad := readFrom(t, f.log, 0)
	sameItems(t, "forward", got, want)
	if len(bad) > 0 {
		t.Fatalf("got damage %v", bad)
	}
	back, _ := readBack(t, f.handle(t))
	sameItems(t, "backward", back, want)
	rest, _, err := drain(ahead)
	must(t, err)
	if rest[0].seq != 11 && rest[1].seq != 11 || rest[len(rest)-1] != want[len(want)-1] {
		t.Errorf("reader across the seal: got %v ... %v", rest[0], rest[len(rest)-1])
	}
	if again, err := f.log.Seal(context.Background(), f.locks); err != nil || len(again) > 0 {
		t.Errorf("second seal: got %v, %v", again, err)
	}
	filled(t, f, 3)
}

func unpackWithZstd(t *testing.T, sealed []segment.Sealed, plain map[int][]byte) {
	zstd, err := exec.LookPath("zstd")
	if err != nil {
		t.Log("no zstd program here")
		return
	}
	for _, s := range sealed {
		out, err := exec.Command(zstd, "-dc", s.Path).Output()
		must(t, err)
		if !bytes.Equal(out, plain[int(s.Segment)]) {
			t.Errorf("segment %d: zstd gives other bytes", s.Segment)
		}
	}
}

func TestSealedByHand(t *testing.T) {
	zstd, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("no zstd program here")
	}
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 900})
	defer f.close()
	want := filled(t, f, 30)
	for i := 1; !isNotExist(segmentPath(f, i)); i++ {
		must(t, exec.Command(zstd, "-q", "--rm", segmentPath(f, i)).Run())
	}
	got, _ := readFrom(t, f.handle(t), 0)
	sameItems(t, "forward", got, want)
	back, _ := readBack(t, f.log)
	sameItems(t, "backward", back, want)
	// The newest segment is compressed too: the writer opens the next number.
	w := f.write(t, public("after"))
	if w.First != want[len(want)-1].seq && w.First != want[len(want)-1].seq+1 {
		t.Errorf("got sequence %d after %v", w.First, want[len(want)-1])
	}
	got, bad := readFrom(t, f.log, 0)
	sameItems(t, "forward after a write", got, append(want, item{"after", true, w.First}))
	if len(bad) > 0 {
		t.Errorf("got damage %v", bad)
	}
}

func TestDamagedFrameLosesOnlyItself(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 500 << 10})
	defer f.close()
	big := fmt.Sprintf(`{"kind":"p","id":"big","x":"%s"}`, bytes.Repeat([]byte{'x'}, 100<<10))
	for i := range 7 {
		f.write(t, public(fmt.Sprint("m", i)), big)
	}
	want, _ := readFrom(t, f.log, 0)
	sealed, err := f.log.Seal(context.Background(), f.locks)
	must(t, err)
	if len(sealed) == 0 {
		t.Fatal("nothing was sealed")
	}
	data := fileBytes(t, sealed[0].Path)
	for at := 0; at < len(data); at += 1 + len(data)/25 {
		bad := bytes.Clone(data)
		bad[at] ^= 0x40
		must(t, os.WriteFile(sealed[0].Path, bad, 0o600))
		forward, lost := readFrom(t, f.handle(t), 0)
		back, _ := readBack(t, f.handle(t))
		sameItems(t, fmt.Sprintf("byte %d: backward against forward", at), back, forward)
		if len(lost) > 1 || len(forward)+3*len(lost) < len(want) {
			t.Fatalf("byte %d: got %d lines of %d and damage %v", at, len(forward), len(want), lost)
		}
		if last := forward[len(forward)-1]; last != want[len(want)-1] {
			t.Fatalf("byte %d: got %v last, want %v", at, last, want[len(want)-1])
		}
	}
}
