package acp

import (
	"bytes"
	"encoding/json"
)

// methodIn returns the method that the beginning of a message names, and "" if it
// names none there.
func methodIn(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return ""
		}
		if method, ok := value.(string); ok && key == "method" {
			return method
		}
	}
}
