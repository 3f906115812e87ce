package oneshot

import (
	"encoding/json"
	"errors"
)

// decode reads an event, and reports whether the line is one. A field of another kind
// than expected is left empty: what it means is then not known.
func decode(line []byte, event any) bool {
	err := json.Unmarshal(line, event)
	var other *json.UnmarshalTypeError
	return err == nil || errors.As(err, &other)
}
