package bundle

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A JSON value is one of nil, bool, [Number], string, []any and *[Object].

// Number is a JSON number as it was written.
type Number string

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Value any
}

// Object is a JSON object that keeps the order of its keys. A key that was
// written twice has its last value at its first place, as in JavaScript.
// The zero value is an empty object.
type Object struct {
	members []Member
	index   map[string]int // only for large objects
}

// indexFrom is the size from which an object is looked up through a map.
const indexFrom = 24

// NewObject returns an object with the given members in order.
func NewObject(members ...Member) *Object {
	o := &Object{}
	for _, m := range members {
		o.Set(m.Key, m.Value)
	}
	return o
}

// Get returns the value of a key and whether the key is there.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.members[i].Value, true
	}
	return nil, false
}

// Has tells whether the key is there, whatever its value.
func (o *Object) Has(key string) bool { return o.find(key) >= 0 }

// String returns the value of a key when it is a string, else "".
func (o *Object) String(key string) string {
	v, _ := o.Get(key)
	s, _ := v.(string)
	return s
}

// Len returns the number of keys.
func (o *Object) Len() int { return len(o.members) }

// Members returns the members in order. The caller must not change them.
func (o *Object) Members() []Member { return o.members }

// Set changes the object: it gives the key a value, in its place or at the end.
func (o *Object) Set(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.members[i].Value = v
		return
	}
	o.members = append(o.members, Member{key, v})
	switch {
	case o.index != nil:
		o.index[key] = len(o.members) - 1
	case len(o.members) == indexFrom:
		o.index = make(map[string]int, 2*indexFrom)
		for i, m := range o.members {
			o.index[m.Key] = i
		}
	}
}

func (o *Object) find(key string) int {
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range o.members {
		if o.members[i].Key == key {
			return i
		}
	}
	return -1
}

// Ref returns the target of a reference: an object whose only key is $ref,
// with a string.
func Ref(v any) (Path, bool) {
	o, ok := v.(*Object)
	if !ok || len(o.members) != 1 || o.members[0].Key != "$ref" {
		return "", false
	}
	s, ok := o.members[0].Value.(string)
	return Path(s), ok
}

// Equal tells whether two values are the same: the order of keys does not
// count, the order of list items does, numbers are compared as written.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case *Object:
		b, ok := b.(*Object)
		if !ok || a.Len() != b.Len() {
			return false
		}
		for _, m := range a.members {
			w, ok := b.Get(m.Key)
			if !ok || !Equal(m.Value, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !Equal(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}

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
	data []byte
	pos  int
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
	o := &Object{}
	d.pos++
	for d.space() != '}' {
		key := d.text()
		d.space()
		d.pos++ // the colon
		o.Set(key, d.value())
		if d.space() == ',' {
			d.pos++
		}
	}
	d.pos++
	return o
}

func (d *decoder) array() []any {
	list := []any{}
	d.pos++
	for d.space() != ']' {
		list = append(list, d.value())
		if d.space() == ',' {
			d.pos++
		}
	}
	d.pos++
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
