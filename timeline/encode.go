package timeline

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

const timeLayout = "2006-01-02T15:04:05.000Z"

// appendStart appends the fields that every line starts with.
func appendStart(dst []byte, at, now time.Time, kind string) []byte {
	if at.IsZero() {
		at = now
	}
	dst = append(dst, `{"ts":"`...)
	dst = appendTime(dst, at.UTC())
	dst = append(dst, `","kind":"`...)
	dst = append(dst, kind...)
	return append(dst, '"')
}

// appendTime appends a time of the years that an entry can have as timeLayout has it.
func appendTime(dst []byte, at time.Time) []byte {
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	if year < 0 || year > 9999 {
		return at.AppendFormat(dst, timeLayout)
	}
	dst = append(appendTwo(appendTwo(dst, year/100), year%100), '-')
	dst = append(appendTwo(dst, int(month)), '-')
	dst = append(appendTwo(dst, day), 'T')
	dst = append(appendTwo(dst, hour), ':')
	dst = append(appendTwo(dst, minute), ':')
	dst = append(appendTwo(dst, second), '.')
	milli := at.Nanosecond() / int(time.Millisecond)
	return append(appendTwo(dst, milli/10), byte('0'+milli%10), 'Z')
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

func (s Status) append(dst []byte, now time.Time) []byte {
	dst = appendStart(dst, s.Time, now, string(KindStatus))
	dst = appendNullable(append(dst, `,"status":`...), s.Status)
	dst = appendNullable(append(dst, `,"proposal":`...), s.Proposal)
	dst = appendNullable(append(dst, `,"note":`...), s.Note)
	return append(dst, '}')
}

func (s Sent) append(dst []byte, now time.Time) []byte {
	dst = appendStart(dst, s.Time, now, string(KindSent))
	dst = appendString(append(dst, `,"mid":`...), s.MID)
	dst = appendString(append(dst, `,"text":`...), s.Text)
	dst = appendNullable(append(dst, `,"from":`...), s.From)
	if s.ReplyVia == Note {
		dst = append(dst, `,"replyVia":"note"`...)
	}
	if s.Receipt != nil {
		dst = s.Receipt.append(append(dst, `,"dispatchReceipt":`...))
	}
	if !s.NoDebt {
		dst = s.appendPrivate(append(dst, `,"docket":`...))
	}
	return append(dst, '}')
}

// appendPrivate appends what the debt cannot be rebuilt without. The object is
// there even when it is empty: it is what marks the debt.
func (s Sent) appendPrivate(dst []byte) []byte {
	dst = append(dst, '{')
	without := Sent{Text: s.Text, Receipt: s.Receipt}
	if s.Delivered != "" && s.Delivered != without.HandedText() {
		dst = appendString(append(dst, `"delivered":`...), s.Delivered)
	}
	if len(s.Attributes) > 0 {
		dst = appendStrings(append(appendComma(dst), `"attributes":`...), s.Attributes)
	}
	if s.FromLife != 0 {
		dst = strconv.AppendUint(append(appendComma(dst), `"fromLife":`...), s.FromLife, 10)
	}
	return append(dst, '}')
}

// appendComma separates the next field from those before it.
func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

func appendStrings(dst []byte, m map[string]string) []byte {
	dst = append(dst, '{')
	for _, name := range slices.Sorted(maps.Keys(m)) {
		dst = appendString(append(appendString(appendComma(dst), name), ':'), m[name])
	}
	return append(dst, '}')
}

func (r *Receipt) append(dst []byte) []byte {
	dst = appendString(append(dst, `{"operation":`...), r.Operation)
	dst = appendString(append(dst, `,"requestDigest":`...), r.RequestDigest)
	dst = appendString(append(dst, `,"payloadHash":`...), r.PayloadHash)
	dst = appendString(append(dst, `,"delivery":{"text":`...), r.Delivery.Text)
	dst = appendNullable(append(dst, `,"from":`...), r.Delivery.From)
	return append(dst, "}}"...)
}

func (s Settled) append(dst []byte, now time.Time) []byte {
	dst = appendStart(dst, s.Time, now, kindSettled)
	dst = appendRequest(dst, s.Operation, s.RequestDigest)
	dst = appendString(append(dst, `,"mid":`...), s.MID)
	return append(dst, '}')
}

func (r Revoked) append(dst []byte, now time.Time) []byte {
	dst = appendStart(dst, r.Time, now, kindRevoked)
	dst = appendRequest(dst, r.Operation, r.RequestDigest)
	dst = appendString(append(dst, `,"mid":`...), r.MID)
	dst = appendString(append(dst, `,"reason":`...), r.Reason)
	return append(dst, '}')
}

// appendRequest appends the key of the request, if the message has one.
func appendRequest(dst []byte, operation, digest string) []byte {
	if digest == "" {
		return dst
	}
	dst = appendString(append(dst, `,"operation":`...), operation)
	return appendString(append(dst, `,"requestDigest":`...), digest)
}

// encode returns what Write stores for an event that was made, not read.
func (e Event) encode() []byte {
	if e.Kind == KindStatus {
		return Status{e.Time, e.Status, e.Proposal, e.Note}.append(nil, e.Time)
	}
	return Sent{Time: e.Time, MID: e.MID, Text: e.Text, From: e.From, ReplyVia: e.ReplyVia, NoDebt: true}.append(nil, e.Time)
}
