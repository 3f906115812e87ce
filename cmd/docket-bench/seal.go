package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
	"github.com/docket-go/docket/timeline"
)

const (
	oneFrame = "one-frame zstd"
	docket   = "docket"
)

func sealTime(b *bench) race.Workload {
	return race.Workload{
		Name: "seal", About: "seal the full segments of a log of " + count(b.size.middle) + " events: compress, sync, compare, exchange; time a MiB",
		Limit: oneFrame, Rounds: 5,
		Contestants: []race.Contestant{
			b.sealed(oneFrame, func(_ context.Context, s *sealing) (float64, error) {
				begun := time.Now()
				plain, _, err := s.compress()
				return float64(time.Since(begun)) / mib(plain), err
			}),
			b.sealed(docket, func(ctx context.Context, s *sealing) (float64, error) {
				begun := time.Now()
				plain, _, err := s.seal(ctx)
				return float64(time.Since(begun)) / mib(plain), err
			}),
		},
	}
}

func sealRatio(b *bench) race.Workload {
	return race.Workload{
		Name: "seal-ratio", About: "how many times smaller full segments become",
		Unit: race.Times, Limit: oneFrame, Rounds: 1,
		Contestants: []race.Contestant{
			b.sealed(oneFrame, func(_ context.Context, s *sealing) (float64, error) {
				plain, packed, err := s.compress()
				return float64(plain) / float64(packed), err
			}),
			b.sealed(docket, func(ctx context.Context, s *sealing) (float64, error) {
				plain, packed, err := s.seal(ctx)
				return float64(plain) / float64(packed), err
			}),
		},
		Targets: []race.Target{{Of: docket, AtLeast: 0.80, To: oneFrame}},
	}
}

func sealIndex(b *bench) race.Workload {
	return race.Workload{
		Name: "seal-index", About: "what the summary and the index are of a sealed segment",
		Unit: race.Percent, Rounds: 1,
		Contestants: []race.Contestant{b.sealed(docket, func(ctx context.Context, s *sealing) (float64, error) {
			_, packed, err := s.seal(ctx)
			if err != nil {
				return 0, err
			}
			index, err := s.skippable()
			return 100 * float64(index) / float64(packed), err
		})},
		Targets: []race.Target{{Of: docket, AtMost: 0.5}},
	}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// A sealing is a log whose full segments are to be sealed.
type sealing struct {
	dir  string
	want int64 // bytes in the full segments
	log  *timeline.Log
}

// sealed makes a new log for each round, and does one thing with it.
func (b *bench) sealed(name string, one func(context.Context, *sealing) (float64, error)) race.Contestant {
	return race.Contestant{Name: name, Batch: 1, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		s := &sealing{}
		return &race.Runner{
			Prepare: func(int) (err error) {
				if s.dir, err = os.MkdirTemp(dir, ""); err != nil {
					return err
				}
				if s.log, err = b.openClone(b.size.middle, s.dir, timeline.Options{}); err != nil {
					return err
				}
				s.want, err = s.fullBytes()
				return err
			},
			Measure: func(int) (float64, error) {
				figure, err := one(ctx, s)
				return figure, errors.Join(err, s.log.Close(), os.RemoveAll(s.dir))
			},
		}, nil
	}}
}

// full are the segments that are not written any more.
func (s *sealing) full() ([]string, error) {
	paths, err := segmentPaths(s.dir)
	if err != nil {
		return nil, err
	}
	return paths[:len(paths)-1], nil
}

func (s *sealing) fullBytes() (bytes int64, err error) {
	paths, err := s.full()
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		bytes += info.Size()
	}
	return bytes, err
}

// seal has docket seal them.
func (s *sealing) seal(ctx context.Context) (plain, packed int64, err error) {
	all, err := s.log.Seal(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, one := range all {
		plain += one.PlainBytes
		packed += one.Bytes
	}
	if plain != s.want {
		err = fmt.Errorf("%d bytes were sealed of %d", plain, s.want)
	}
	return plain, packed, err
}

// compress makes one frame of each of them, and keeps none.
func (s *sealing) compress() (plain, packed int64, err error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return 0, 0, err
	}
	defer enc.Close()
	paths, err := s.full()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, 0, err
		}
		plain += int64(len(text))
		packed += int64(len(enc.EncodeAll(text, nil)))
	}
	return plain, packed, err
}

// skippable counts the bytes of the sealed files that are no compressed text: the
// skippable frame at the start, and the one that ends the file.
func (s *sealing) skippable() (bytes int64, err error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, segments, "*.zst"))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		if len(text) < 17 {
			return 0, fmt.Errorf("%s is no sealed segment", filepath.Base(path))
		}
		frames := binary.LittleEndian.Uint32(text[len(text)-9:]) // in the footer of the seek table
		entry := int64(8)
		if text[len(text)-5]&0x80 != 0 {
			entry = 12 // with a checksum
		}
		bytes += 8 + int64(binary.LittleEndian.Uint32(text[4:])) + 8 + int64(frames)*entry + 9
	}
	return bytes, err
}

func sealOne(b *bench) race.Workload {
	return race.Workload{
		Name: "seal-one", About: "read one event somewhere in a sealed segment, given its cursor",
		Contestants: []race.Contestant{b.fromSealed(docket), b.wholeFrame("one-frame zstd, decoded whole")},
		Targets:     []race.Target{{Of: docket, AtMost: float64(300 * time.Microsecond)}},
	}
}

func (b *bench) fromSealed(name string) race.Contestant {
	return race.Contestant{Name: name, Open: func(ctx context.Context, dir string) (*race.Runner, error) {
		l, err := b.openClone(b.size.middle, dir, timeline.Options{})
		if err != nil {
			return nil, err
		}
		if _, err := l.Seal(ctx); err != nil {
			return nil, err
		}
		asked := uint64(0)
		return &race.Runner{
			Round: func(n int) error {
				return repeat(n, func() error {
					asked++
					return b.readOne(ctx, l, asked*7_919%uint64(b.size.middle/2))
				})
			},
			Close: l.Close,
		}, nil
	}}
}

func (b *bench) readOne(ctx context.Context, l *timeline.Log, seq uint64) error {
	c, err := l.CursorAt(ctx, seq)
	if err != nil {
		return err
	}
	for e, err := range l.From(ctx, c) {
		if err == nil && e.Seq != seq {
			err = fmt.Errorf("event %d was read, and %d was asked for", e.Seq, seq)
		}
		return err
	}
	return fmt.Errorf("event %d was not read", seq)
}

// wholeFrame decodes a segment that is one frame: what a file without an index costs.
func (b *bench) wholeFrame(name string) race.Contestant {
	return race.Contestant{Name: name, Open: func(context.Context, string) (*race.Runner, error) {
		dir, err := b.log(b.size.middle)
		if err != nil {
			return nil, err
		}
		paths, err := segmentPaths(dir)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(paths[0])
		if err != nil {
			return nil, err
		}
		enc, err := zstd.NewWriter(nil)
		if err != nil {
			return nil, err
		}
		packed, room := enc.EncodeAll(text, nil), make([]byte, 0, len(text))
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return &race.Runner{
			Round: func(n int) error {
				return repeat(n, func() error {
					got, err := dec.DecodeAll(packed, room[:0])
					if err == nil && len(got) != len(text) {
						err = errors.New("another length")
					}
					return err
				})
			},
			Close: func() error { dec.Close(); return enc.Close() },
		}, nil
	}}
}
