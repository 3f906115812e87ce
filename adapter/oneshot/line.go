package oneshot

import (
	"bytes"
	"encoding/json"
	"errors"
)

// shortened returns an event with the fields that stand whole at the beginning of a
// line that is too long, so that an end of the turn is not missed for its length.
func shortened(head []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	whole := int64(0)
	for {
		if key, err := d.Token(); err != nil || key == json.Delim('}') {
			break
		}
		var value json.RawMessage
		if d.Decode(&value) != nil || d.InputOffset() >= int64(len(head)) { // a number may go on
			break
		}
		whole = d.InputOffset()
	}
	if whole == 0 {
		return nil
	}
	return append(bytes.Clone(head[:whole]), '}')
}

// decode reads an event, and reports whether the line is one. A field of another kind
// than expected is left empty: what it means is then not known.
func decode(line []byte, event any) bool {
	err := json.Unmarshal(line, event)
	var other *json.UnmarshalTypeError
	return err == nil || errors.As(err, &other)
}
