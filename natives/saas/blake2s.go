package saas

import (
	"encoding/binary"
	"math/bits"
)

// blake2sStart is the start of the state of BLAKE2s, see RFC 7693, section 2.6.
var blake2sStart = [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
	0x5be0cd19}

// blake2sOrder is the order of the words of a block in each round, see RFC 7693, section 2.7.
var blake2sOrder = [10][16]uint8{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

// blake2s returns the BLAKE2s hash of a text with a digest of size bytes, 1 to 32, without a key.
// The size is a parameter of the hash: a shorter digest is no part of a longer one. The algorithm
// is that of RFC 7693.
func blake2s(text []byte, size int) []byte {
	h := blake2sStart
	h[0] ^= 0x01010000 ^ uint32(size)
	done := 0
	for len(text)-done > 64 {
		block := [64]byte(text[done : done+64])
		done += 64
		blake2sMix(&h, &block, uint64(done), false)
	}
	var last [64]byte
	copy(last[:], text[done:])
	blake2sMix(&h, &last, uint64(len(text)), true)
	var out []byte
	for _, word := range h {
		out = binary.LittleEndian.AppendUint32(out, word)
	}
	return out[:size]
}

// blake2sMix mixes a block into the state h; length is how many bytes the text has up to the end
// of the block. It is the function F of RFC 7693, section 3.2.
func blake2sMix(h *[8]uint32, block *[64]byte, length uint64, isLast bool) {
	var m, v [16]uint32
	for i := range m {
		m[i] = binary.LittleEndian.Uint32(block[4*i:])
	}
	copy(v[:8], h[:])
	copy(v[8:], blake2sStart[:])
	v[12] ^= uint32(length)
	v[13] ^= uint32(length >> 32)
	if isLast {
		v[14] = ^v[14]
	}
	mix := func(a, b, c, d int, x, y uint32) {
		v[a] += v[b] + x
		v[d] = bits.RotateLeft32(v[d]^v[a], -16)
		v[c] += v[d]
		v[b] = bits.RotateLeft32(v[b]^v[c], -12)
		v[a] += v[b] + y
		v[d] = bits.RotateLeft32(v[d]^v[a], -8)
		v[c] += v[d]
		v[b] = bits.RotateLeft32(v[b]^v[c], -7)
	}
	for _, s := range blake2sOrder {
		for i := range 4 {
			mix(i, 4+i, 8+i, 12+i, m[s[2*i]], m[s[2*i+1]])
		}
		for i := range 4 {
			mix(i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4, m[s[8+2*i]], m[s[9+2*i]])
		}
	}
	for i := range h {
		h[i] ^= v[i] ^ v[i+8]
	}
}
