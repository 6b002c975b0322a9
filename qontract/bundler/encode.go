package bundler

import "unicode/utf8"

// appendValue appends a value as compact JSON in ASCII with sorted keys, in the
// bytes that Python's json writes.
func appendValue(b []byte, n *node) []byte {
	switch n.kind {
	case null:
		return append(b, "null"...)
	case text:
		return appendString(b, n.text)
	case list:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, item)
		}
		return append(b, ']')
	case mapping:
		b = append(b, '{')
		for i, m := range sortMembers(n.members) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendKey(b, m.key)
			b = appendValue(b, m.value)
		}
		return append(b, '}')
	}
	return append(b, n.text...)
}

// appendKey appends the key of a member and a colon. A null becomes "null", as in
// Python.
func appendKey(b []byte, key *node) []byte {
	if key.kind == null {
		return append(b, `"null":`...)
	}
	return append(appendString(b, key.text), ':')
}

const hexDigits = "0123456789abcdef"

// appendString appends a string as JSON in ASCII. Half of a surrogate pair, which a
// JSON file can contain, is kept.
func appendString[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		if c < utf8.RuneSelf {
			b = appendEscape(b, c)
			i++
		} else {
			var size int
			b, size = appendEscapedRune(b, string(s[i:min(i+utf8.UTFMax, len(s))]))
			i += size
		}
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// appendEscape appends the escape of an ASCII character.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	}
	return appendUnicodeEscape(b, rune(c))
}

// appendEscapedRune appends the escape of the first character of s, and returns the
// length of this character in bytes.
func appendEscapedRune(b []byte, s string) ([]byte, int) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1 && len(s) >= 3 && s[0] == 0xed:
		return appendUnicodeEscape(b, 0xd000|rune(s[1]&0x3f)<<6|rune(s[2]&0x3f)), 3
	case r >= 0x10000:
		r -= 0x10000
		return appendUnicodeEscape(appendUnicodeEscape(b, 0xd800|r>>10), 0xdc00|r&0x3ff), size
	}
	return appendUnicodeEscape(b, r), size
}

// appendUnicodeEscape appends \u and the four digits of a UTF-16 code unit.
func appendUnicodeEscape(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
