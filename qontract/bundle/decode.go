package bundle

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseValue decodes one JSON document. The error names the byte at which the document is
// not valid JSON.
func ParseValue(raw []byte) (any, error) {
	s := scanner{data: raw}
	if err := s.scanDocument(); err != nil {
		return nil, err
	}
	return decode(raw), nil
}

// decode decodes JSON that a scanner has validated.
func decode(raw []byte) any {
	d := decoder{data: raw}
	return d.decodeValue()
}

// A decoder decodes JSON that a scanner has validated. It does not check the JSON again.
type decoder struct {
	data    []byte
	pos     int
	members []Member // members of the objects that are being decoded, innermost last
	items   []any    // items of the lists that are being decoded, innermost last
}

func (d *decoder) skipSpace() byte {
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return c
		}
	}
	return 0
}

func (d *decoder) decodeValue() any {
	switch d.skipSpace() {
	case '{':
		return d.decodeObject()
	case '[':
		return d.decodeArray()
	case '"':
		return d.decodeString()
	case 't':
		d.pos += 4
		return true
	case 'f':
		d.pos += 5
		return false
	case 'n':
		d.pos += 4
		return nil
	}
	start := d.pos
	for d.pos < len(d.data) && numberByte[d.data[d.pos]] {
		d.pos++
	}
	return Number(d.data[start:d.pos])
}

func (d *decoder) decodeObject() *Object {
	start := len(d.members)
	d.pos++
	for d.skipSpace() != '}' {
		key := d.decodeString()
		d.skipSpace()
		d.pos++ // the colon
		v := d.decodeValue()
		d.members = append(d.members, Member{key, v})
		if d.skipSpace() == ',' {
			d.pos++
		}
	}
	d.pos++
	o := newObject(slices.Clone(d.members[start:]))
	d.members = d.members[:start]
	return o
}

func (d *decoder) decodeArray() []any {
	start := len(d.items)
	d.pos++
	for d.skipSpace() != ']' {
		v := d.decodeValue()
		d.items = append(d.items, v)
		if d.skipSpace() == ',' {
			d.pos++
		}
	}
	d.pos++
	list := append([]any{}, d.items[start:]...)
	d.items = d.items[:start]
	return list
}

func (d *decoder) decodeString() string {
	start := d.pos + 1
	end := start
	plain := true
	for d.data[end] != '"' {
		if d.data[end] == '\\' {
			plain = false
			end++
		}
		end++
	}
	d.pos = end + 1
	if plain {
		return string(d.data[start:end])
	}
	return unescape(d.data[start:end])
}

// unescape decodes the text between the quotes of a JSON string. A lone surrogate becomes
// three bytes in the form of UTF-8, although UTF-8 does not allow surrogates. So writing
// the string can give the same escape again.
func unescape(in []byte) string {
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in)
	}
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' {
			out = append(out, in[i])
			continue
		}
		i++
		if in[i] != 'u' {
			out = append(out, decodeSimpleEscape(in[i]))
			continue
		}
		r := parseHex4(in[i+1:])
		i += 4
		if utf16.IsSurrogate(r) && i+6 < len(in) && in[i+1] == '\\' && in[i+2] == 'u' {
			if pair := utf16.DecodeRune(r, parseHex4(in[i+3:])); pair != utf8.RuneError {
				r = pair
				i += 6
			}
		}
		if utf16.IsSurrogate(r) {
			out = append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

func decodeSimpleEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // a quote, a slash or a backslash
}

func parseHex4(in []byte) rune {
	n, err := strconv.ParseUint(string(in[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
