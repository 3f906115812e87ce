package dispatch

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"maps"
	"slices"

	"github.com/docket-go/docket/queue"
)

// A fingerprint stands for what the queue would hand over: two entries with the same one are
// the same debt.
type fingerprint [sha256.Size]byte

func fingerprintOf(e queue.Entry) (d fingerprint) {
	h := sha256.New()
	writeTexts(h, e.Text, e.From)
	for _, name := range slices.Sorted(maps.Keys(e.Attributes)) {
		writeTexts(h, name, e.Attributes[name])
	}
	h.Write([]byte{0}) // the length of no text begins so
	if e.Dispatch != nil {
		writeTexts(h, e.Dispatch.Operation, e.Dispatch.RequestDigest)
	}
	h.Sum(d[:0])
	return d
}

// writeTexts adds texts and where each ends.
func writeTexts(h io.Writer, texts ...string) {
	for _, text := range texts {
		var size [9]byte
		size[0] = 1
		binary.BigEndian.PutUint64(size[1:], uint64(len(text)))
		h.Write(size[:])
		io.WriteString(h, text)
	}
}
