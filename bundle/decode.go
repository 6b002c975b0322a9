package bundle

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseValue decodes one JSON document. The error names the byte where it
// stops being JSON.
func ParseValue(raw []byte) (any, error) {
	s := scanner{data: raw}
	if err := s.document(); err != nil {
		return nil, err
	}
	return decode(raw), nil
}

// decode turns JSON that a scanner has accepted into a value.
func decode(raw []byte) any {
	d := decoder{data: raw}
	return d.value()
}

// A decoder reads valid JSON; it does not check what the scanner has checked.
type decoder struct {
	data    []byte
	pos     int
	members []Member // of the objects that are being read, one inside the other
	items   []any    // the same for lists
}

func (d *decoder) space() byte {
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

func (d *decoder) value() any {
	switch d.space() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.text()
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

func (d *decoder) object() *Object {
	start := len(d.members)
	d.pos++
	for d.space() != '}' {
		key := d.text()
		d.space()
		d.pos++ // the colon
		v := d.value()
		d.members = append(d.members, Member{key, v})
		if d.space() == ',' {
			d.pos++
		}
	}
	d.pos++
	o := newObject(slices.Clone(d.members[start:]))
	d.members = d.members[:start]
	return o
}

func (d *decoder) array() []any {
	start := len(d.items)
	d.pos++
	for d.space() != ']' {
		v := d.value()
		d.items = append(d.items, v)
		if d.space() == ',' {
			d.pos++
		}
	}
	d.pos++
	list := append([]any{}, d.items[start:]...)
	d.items = d.items[:start]
	return list
}

func (d *decoder) text() string {
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

// unescape decodes the inside of a JSON string. A lone surrogate becomes the
// three bytes that UTF-8 would use for it if it could, so that writing the
// string can give the same escape again.
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
			out = append(out, simpleEscape(in[i]))
			continue
		}
		r := hex4(in[i+1:])
		i += 4
		if utf16.IsSurrogate(r) && i+6 < len(in) && in[i+1] == '\\' && in[i+2] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(in[i+3:])); pair != utf8.RuneError {
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

func simpleEscape(c byte) byte {
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

func hex4(in []byte) rune {
	n, err := strconv.ParseUint(string(in[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
