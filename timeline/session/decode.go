package session

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// maxMilliseconds is the last time that every reader of the record can hold.
const maxMilliseconds = 8.64e15

// A decoder reads the known fields of a record. Null and absent are the zero
// value. It keeps the first error and does nothing from then on.
type decoder struct {
	fields object
	err    error
}

// value decodes the named field into dst; want says for people what it must be.
func (d *decoder) value(name, want string, dst any) {
	raw := d.fields.get(name)
	if d.err != nil || raw == nil {
		return
	}
	if err := json.Unmarshal(raw, dst); err != nil {
		d.err = fmt.Errorf("field %q: want %s: %w", name, want, err)
	}
}

func (d *decoder) text(name string, dst *string) {
	raw := d.fields.get(name)
	if d.err != nil || len(raw) == 0 || raw[0] != '"' {
		d.value(name, "a text", dst)
		return
	}
	if *dst, d.err = unquote(raw); d.err != nil {
		d.err = fmt.Errorf("field %q: want a text: %w", name, d.err)
	}
}

func (d *decoder) milliseconds(name string, dst *time.Time) {
	var ms *float64
	d.value(name, "milliseconds since 1970", &ms)
	if d.err != nil || ms == nil {
		return
	}
	if math.Abs(*ms) > maxMilliseconds {
		d.err = fmt.Errorf("field %q: %v is out of range", name, *ms)
		return
	}
	*dst = time.UnixMilli(int64(*ms)).UTC()
}

func (d *decoder) life(name string, dst *uint64) {
	d.value(name, "a whole number", dst)
	if d.err == nil && *dst >= maxLife {
		d.err = fmt.Errorf("field %q: %d is out of range", name, *dst)
	}
}

// truth takes every value: what other writers store for "yes" differs.
func (d *decoder) truth(name string, dst *bool) {
	switch raw := string(d.fields.get(name)); raw {
	case "", "null", "false", `""`:
		*dst = false
	default:
		number, err := strconv.ParseFloat(raw, 64)
		*dst = err != nil || number != 0
	}
}

// projection reads what a pending launch keeps back. Other writers store less.
func (d *decoder) projection(name string, dst **Declaration) {
	raw := d.fields.get(name)
	if d.err != nil || len(raw) == 0 || raw[0] != '{' {
		return
	}
	fields, err := parseObject(raw)
	if err != nil {
		d.err = fmt.Errorf("field %q: %w", name, err)
		return
	}
	inner := decoder{fields: fields}
	var p Declaration
	inner.text("status", &p.Status)
	inner.text("proposal", &p.Proposal)
	inner.text("note", &p.Note)
	if inner.err != nil {
		d.err = fmt.Errorf("field %q: %w", name, inner.err)
		return
	}
	if fields.get("status") != nil {
		*dst = &p
	}
}
