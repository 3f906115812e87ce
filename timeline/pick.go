package timeline

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/docket-go/docket/timeline/segment"
)

// nearby is how many events a picker rather reads over than seeking.
const nearby = 1000

// A picker takes single public lines of which a header says what they are. It is
// fastest when their sequences grow.
type picker struct {
	log *Log
	r   *segment.Reader
}

func (p *picker) close() {
	if p.r != nil {
		// It only read; what closing says changes nothing.
		_ = p.r.Close()
		p.r = nil
	}
}

// at hands the line with the sequence seq to take. If it is not there, or take
// refuses it, the log was changed by hand, and the error is [ErrCorrupt].
func (p *picker) at(ctx context.Context, seq uint64, take func(at *segment.Line, l *line) error) error {
	if err := p.seek(ctx, seq); err != nil {
		return p.log.wrap(err)
	}
	at, err := p.read(ctx, seq)
	if err != nil && !errors.Is(err, io.EOF) {
		return p.log.wrap(err)
	}
	var l line
	if err == nil {
		l, err = parse(at.Bytes)
	}
	if err == nil && at.Seq != seq {
		err = errors.New("it is not there")
	}
	if err == nil {
		err = take(&at, &l)
	}
	if err != nil {
		err = fmt.Errorf("session %s: %w: event %d, which a segment's header names: %w", p.log.session, ErrCorrupt, seq, err)
	}
	return err
}

func (p *picker) seek(ctx context.Context, seq uint64) (err error) {
	if p.r != nil && p.r.Seq() <= seq && seq-p.r.Seq() < nearby {
		return nil
	}
	p.close()
	p.r, err = p.log.segments.Reader(ctx, seq)
	return err
}

// read returns the first public line with the sequence seq or a later one.
func (p *picker) read(ctx context.Context, seq uint64) (segment.Line, error) {
	for {
		at, err := p.r.Next(ctx)
		if err != nil || at.Class == segment.Public && at.Seq >= seq {
			return at, err
		}
	}
}
