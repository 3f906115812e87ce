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
		set(out, &f.digests[i])
	}
	return base64.StdEncoding.AppendEncode(nil, out)
}

// excludes reports that no key of the filter is digest.
func excludes(bits []byte, digest []byte) bool {
	if len(bits) == 0 {
		return true
	}
	d := fixed(digest)
	for i := range probes { // mostly the first or the second one tells
		if bit := position(&d, i, len(bits)); bits[bit/8]&(1<<(bit%8)) == 0 {
			return true
		}
	}
	return false
}

// set marks the key in the filter bits.
func set(bits []byte, digest *[digestLen]byte) {
	for i := range probes {
		bit := position(digest, i, len(bits))
		bits[bit/8] |= 1 << (bit % 8)
	}
}

// position is the bit of a probe in a filter of so many bytes.
func position(d *[digestLen]byte, probe, size int) uint64 {
	return uint64(binary.BigEndian.Uint32(d[4*probe:])) % (uint64(size) * 8)
}

// fixed hashes what is not a digest already.
func fixed(digest []byte) [digestLen]byte {
	if len(digest) == digestLen {
		return [digestLen]byte(digest)
	}
	return sha256.Sum256(digest)
}
