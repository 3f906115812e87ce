package codex

import (
	"bytes"
	"encoding/json"
)

// headOf returns what the beginning of a message names before it is cut off.
func headOf(head []byte) (m message) {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return m
	}
	for {
		key, err := d.Token()
		if err != nil {
			return m
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return m
		}
		switch key {
		case "method":
			_ = json.Unmarshal(value, &m.Method)
		case "id":
			m.ID = value
		}
	}
}
