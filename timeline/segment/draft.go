package segment

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/docket-go/docket/lock/step"
)

// errOvertaken says that another process took a draft for an abandoned one and
// removed it.
var errOvertaken = errors.New("segment: another process tidies the log: try again")

// overtaken is how often a step is tried that others can take the draft from.
const overtaken = 5

// newDraft makes a file that becomes path once it is whole. It is marked as in use
// for as long as it is open.
func (l *Log) newDraft(path string, flags int) (*os.File, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("segment: name a draft: %w", err)
	}
	f, err := l.disk.create(path+"."+hex.EncodeToString(random[:])+draftSuffix, flags)
	if err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	if err := holdDraft(f); isTaken(err) {
		f.Close()
		return nil, errOvertaken
	}
	return f, nil
}

// tidy removes the drafts of writers and sealers that died. A draft that stays does
// no harm, and is tried again by the next.
func (l *Log) tidy(ls *listing) {
	for _, draft := range ls.drafts {
		if abandoned(draft) {
			_ = l.disk.remove(draft)
		}
	}
}

// place makes segment n with its header and nothing else. The header is durable
// before the name is there, so that a segment behind another is never empty.
func (l *Log) place(h *header, n uint64) (err error) {
	if len(h.Facts) > 0 && (!json.Valid(h.Facts) || bytes.IndexByte(h.Facts, '\n') >= 0) {
		return fmt.Errorf("segment: the schema's facts are not one JSON value on one line: %.100q", h.Facts)
	}
	for range overtaken {
		if err = l.placeOnce(h, n); !errors.Is(err, errOvertaken) {
			break
		}
	}
	return err
}

func (l *Log) placeOnce(h *header, n uint64) error {
	path := l.plainPath(n)
	f, err := l.newDraft(path, os.O_WRONLY)
	if err != nil {
		return full(err)
	}
	line := h.append(nil)
	if err = l.writeWhole(f, line); err != nil {
		err = fmt.Errorf("segment: write the header of %s: %w", path, err)
	} else if err = l.disk.dataSync(f); err != nil {
		err = l.commits.fail(err)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, l.disk.remove(f.Name()))
	}
	step.At("segment: header drafted")
	if there, err := exists(path); err != nil || there {
		err = errors.Join(err, l.disk.remove(f.Name()))
		return errors.Join(err, fmt.Errorf("segment: %s is there already: find the program that made it", path))
	}
	err = l.disk.rename(f.Name(), path)
	if errors.Is(err, os.ErrNotExist) && l.present() == nil {
		return errOvertaken
	}
	if err != nil {
		return errors.Join(fmt.Errorf("segment: %w", full(err)), l.disk.remove(f.Name()))
	}
	step.At("segment: created")
	return nil
}

// full marks an error that says that there is no space left.
func full(err error) error {
	if isFull(err) {
		return fmt.Errorf("%w: %w: free some and send again", ErrFull, err)
	}
	return err
}
