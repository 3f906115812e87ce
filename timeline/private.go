package timeline

import "strconv"

// decodeSent decodes a sent line with its private fields. A receipt or a docket
// object that is not of the stored shape proves nothing and counts as absent.
func (l *line) decodeSent() Sent {
	s := Sent{
		Time: l.time(), MID: l.string(l.mid), Text: l.string(l.text),
		From: l.string(l.from), ReplyVia: Channel(l.string(l.replyVia)),
		Receipt: decodeReceipt(l.raw, l.receipt), NoDebt: true,
	}
	if object, ok := objectAt(l.raw, l.docket); ok {
		s.NoDebt = !decodePrivate(object, &s)
	}
	return s
}

// ours reports whether docket wrote the line, which must be a sent line, with a
// debt.
func (l *line) ours() bool {
	object, ok := objectAt(l.raw, l.docket)
	return ok && (string(object) == `{}` || decodePrivate(object, &Sent{}))
}

// objectAt returns the object that stands at v, and false if none does.
func objectAt(raw []byte, v value) (object []byte, ok bool) {
	if v.absent() || raw[v.from] != '{' {
		return nil, false
	}
	return v.bytes(raw), true
}

// A want is a field to take out of an object: as a string into text, where null and
// absent are empty, or its place into at.
type want struct {
	name string
	text *string
	at   *value
}

// pick takes the wanted fields, and returns false if the object is none or holds
// something else where a string is wanted.
func pick(object []byte, wants ...want) bool {
	places := make([]value, len(wants))
	s := scan(object)
	for {
		name, val, ok := s.next()
		if !ok {
			break
		}
		for i := range wants {
			if string(nameOf(object, name)) == wants[i].name {
				places[i] = val
			}
		}
	}
	if s.err != nil {
		return false
	}
	for i, w := range wants {
		if w.at != nil {
			*w.at = places[i]
			continue
		}
		t, ok := textAt(object, places[i])
		if !ok {
			return false
		}
		*w.text = t
	}
	return true
}

// textAt decodes the string at v, empty where it is null or absent, and returns
// false where something else stands.
func textAt(raw []byte, v value) (t string, ok bool) {
	if v.null(raw) {
		return "", true
	}
	if raw[v.from] != '"' {
		return "", false
	}
	return text(string(v.bytes(raw)), value{to: v.to - v.from, plain: v.plain}), true
}

// decodePrivate takes the docket object of a sent line into s.
func decodePrivate(object []byte, s *Sent) (ok bool) {
	var attributes, fromLife value
	if !pick(object, want{name: "delivered", text: &s.Delivered}, want{name: "attributes", at: &attributes}, want{name: "fromLife", at: &fromLife}) {
		return false
	}
	if !fromLife.null(object) {
		life, err := strconv.ParseUint(string(fromLife.bytes(object)), 10, 64)
		if err != nil {
			return false
		}
		s.FromLife = life
	}
	if attributes.null(object) {
		return true
	}
	s.Attributes, ok = decodeMap(object, attributes)
	return ok
}

func decodeMap(raw []byte, v value) (m map[string]string, ok bool) {
	object, ok := objectAt(raw, v)
	if !ok {
		return nil, false
	}
	m = map[string]string{}
	for s := scan(object); ; {
		name, val, more := s.next()
		if !more {
			return m, s.err == nil
		}
		t, ok := textAt(object, val)
		if !ok {
			return nil, false
		}
		m[string(nameOf(object, name))] = t
	}
}

func decodeReceipt(raw []byte, v value) *Receipt {
	object, ok := objectAt(raw, v)
	if !ok {
		return nil
	}
	var r Receipt
	var delivery value
	if !pick(object, want{name: "operation", text: &r.Operation}, want{name: "requestDigest", text: &r.RequestDigest},
		want{name: "payloadHash", text: &r.PayloadHash}, want{name: "delivery", at: &delivery}) {
		return nil
	}
	frozen, ok := objectAt(object, delivery)
	if !ok || !pick(frozen, want{name: "text", text: &r.Delivery.Text}, want{name: "from", text: &r.Delivery.From}) {
		return nil
	}
	return &r
}

// privateField reports whether a top-level field of a public line is never shown.
func privateField(name []byte) bool {
	switch string(name) {
	case "dispatchReceipt", "docket", "crc", "seq":
		return true
	}
	return false
}

// publicJSON returns the object raw less its private fields.
func publicJSON(raw string) []byte {
	in := []byte(valid(raw))
	out := make([]byte, 1, len(in))
	out[0] = '{'
	for s := scan(in); ; {
		name, val, ok := s.next()
		if !ok {
			return append(out, '}')
		}
		if privateField(nameOf(in, name)) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, name.bytes(in)...)
		out = append(out, ':')
		out = append(out, val.bytes(in)...)
	}
}
