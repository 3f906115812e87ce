package segment

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

const (
	bitsPerKey = 20
	probes     = 7
	digestLen  = 32
)

// A filter collects the keys of one segment and says later which keys it cannot
// have held. It is a Bloom filter: twenty bits a key (earlier versions: ten; a reader
// takes any number), and seven probes, which are the first seven 32-bit words (big
// endian) of the digest modulo the number of bits.
type filter struct{ digests [][digestLen]byte }

func (f *filter) add(digest []byte) { f.digests = append(f.digests, fixed(digest)) }

// encode returns the filter in base64. No key at all is an empty filter, which excludes every
// key.
func (f *filter) encode() []byte {
	out := make([]byte, (len(f.digests)*bitsPerKey+7)/8)
	for i := range f.digests {
		for _, bit := range positions(&f.digests[i], len(out)) {
			out[bit/8] |= 1 << (bit % 8)
		}
	}
	return base64.StdEncoding.AppendEncode(nil, out)
}

// excludes reports that no key of the filter is digest.
func excludes(bits []byte, digest []byte) bool {
	if len(bits) == 0 {
		return true
	}
	d := fixed(digest)
	for _, bit := range positions(&d, len(bits)) {
		if bits[bit/8]&(1<<(bit%8)) == 0 {
			return true
		}
	}
	return false
}

func positions(d *[digestLen]byte, size int) (at [probes]uint64) {
	for i := range at {
		at[i] = uint64(binary.BigEndian.Uint32(d[4*i:])) % (uint64(size) * 8)
	}
	return at
}

// fixed hashes what is not a digest already.
func fixed(digest []byte) [digestLen]byte {
	if len(digest) == digestLen {
		return [digestLen]byte(digest)
	}
	return sha256.Sum256(digest)
}
