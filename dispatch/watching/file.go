package watching

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/session"
)

const (
	fileName     = "watchers.json"
	version      = 1
	maxFileBytes = 16 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stored is the whole file.
type stored struct {
	Version  int             `json:"version"`
	CRC      string          `json:"crc"` // of the bytes of Watchers
	Watchers json.RawMessage `json:"watchers"`
}

// A list is what the file of one session holds: spans, in the order in which they
// were begun.
type list []span

// load reads the list of a session. Without a file nobody watches.
func load(s *session.Session) (list, error) {
	path := filepath.Join(s.Dir(), fileName)
	data, found, err := s.Kept(fileName, maxFileBytes)
	if bad := (*session.RecordError)(nil); errors.As(err, &bad) {
		return nil, &CorruptError{Session: s.ID(), Path: path, Err: bad.Err}
	}
	if err != nil || !found {
		return nil, err
	}
	l, err := decode(s.ID(), data)
	if errors.Is(err, ErrVersion) {
		return nil, fmt.Errorf("session %s: %s: %w: use that docket", s.ID(), path, err)
	}
	if err != nil {
		return nil, &CorruptError{Session: s.ID(), Path: path, Err: err}
	}
	return l, nil
}

// decode reads the list of session id. A later version is told by its number alone.
func decode(id string, data []byte) (list, error) {
	var s stored
	if err := strictly(data, &s); err != nil {
		var v struct{ Version int }
		if json.Unmarshal(data, &v) == nil && v.Version > version {
			return nil, ErrVersion
		}
		return nil, err
	}
	switch {
	case s.Version > version:
		return nil, ErrVersion
	case s.Version < 1:
		return nil, errors.New("it has no version")
	case s.CRC != sum(s.Watchers):
		return nil, errors.New("its checksum is wrong")
	}
	var l list
	if err := strictly(s.Watchers, &l); err != nil {
		return nil, err
	}
	for _, sp := range l {
		if err := sp.check(id); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// strictly decodes one value that has no fields but those of v.
func strictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if d.More() {
		return errors.New("something stands behind the value")
	}
	return nil
}

func sum(watchers []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(watchers, castagnoli))
}

// check refuses what save never writes.
func (sp span) check(id string) error {
	switch {
	case session.ValidID(sp.By) != nil:
		return fmt.Errorf("%.128q is no session", sp.By)
	case sp.By == id:
		return ErrSelf
	case sp.ID == "":
		return fmt.Errorf("the watch of %s has no id", sp.By)
	case sp.Place.IsZero():
		return fmt.Errorf("the watch of %s has no place", sp.By)
	case sp.Until != nil && sp.Until.IsZero():
		return fmt.Errorf("the watch of %s has no end", sp.By)
	}
	return nil
}

// encode writes one watcher a line.
func (l list) encode() ([]byte, error) {
	var watchers bytes.Buffer
	watchers.WriteString("[")
	for i, sp := range l {
		line, err := json.Marshal(sp)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			watchers.WriteString(",")
		}
		watchers.WriteString("\n")
		watchers.Write(line)
	}
	watchers.WriteString("\n]")
	return fmt.Appendf(nil, `{"version":%d,"crc":"%s","watchers":%s}`+"\n", version, sum(watchers.Bytes()), watchers.Bytes()), nil
}

// save replaces the list of the session, atomically. The file of an empty list goes,
// once it is empty on stable storage, so that no power cut brings a watch back. After
// an error the list is as it was or as new.
func (l list) save(held *lock.Record, s *session.Session) error {
	data, err := l.encode()
	if err != nil {
		return fmt.Errorf("session %s: who watches it: %w", s.ID(), err)
	}
	if len(data) > maxFileBytes {
		return fmt.Errorf("session %s: too many watch it: let some of them end their watch", s.ID())
	}
	if err := s.Keep(held, fileName, data); err != nil || len(l) > 0 {
		return err
	}
	step.At("watching: list emptied")
	if err := os.Remove(filepath.Join(s.Dir(), fileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("session %s: %w", s.ID(), err)
	}
	step.At("watching: list removed")
	return nil
}
