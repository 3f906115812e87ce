package opencode

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
)

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// idOf returns the id of a message of docket in a session of opencode, without its
// kind. It is always the same for the same two, so that it can be looked up after a
// crash and a repetition replaces itself. It begins like the ids that opencode makes
// itself, with the time, as opencode's terminal sorts messages by their ids; the order
// in which the model sees them does not depend on it.
func idOf(session, mid string) string {
	sum := sha256.Sum256([]byte("docket\x00" + session + "\x00" + mid))
	head := binary.BigEndian.Uint64(sum[:8]) & (1<<48 - 1)
	if ms, ok := accepted(mid); ok {
		head = (ms<<12 | head&0xfff) & (1<<48 - 1)
	}
	tail := make([]byte, 14)
	for i := range tail {
		tail[i] = letters[int(sum[8+i])%len(letters)]
	}
	return fmt.Sprintf("%012x%s", head, tail)
}

// accepted returns the Unix milliseconds that a UUID of version 7 begins with.
func accepted(mid string) (ms uint64, ok bool) {
	id, err := uuid.Parse(mid)
	if err != nil || id.Version() != 7 {
		return 0, false
	}
	return binary.BigEndian.Uint64(id[:8]) >> 16, true
}
