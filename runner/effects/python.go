package effects

import (
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// maxDepth is how deep lists may be nested that are read.
const maxDepth = 20

// A value is a value as Python prints it with repr.
type value struct {
	text   string  // a string without its quotes; any other value as it is printed
	isText bool    // whether it is a string
	isList bool    // whether it is a list or a tuple
	items  []value // of a list or tuple
	fields []field // of a dict
}

// A field is a key of a dict with its value.
type field struct{ key, value value }

// field returns the text of a dict's field that is a string.
func (v value) field(key string) (string, bool) {
	for _, f := range v.fields {
		if f.key.isText && f.key.text == key && f.value.isText {
			return f.value.text, true
		}
	}
	return "", false
}

// readPython reads a text that is exactly one value.
func readPython(text string) (value, bool) {
	p := pythonReader{text: text}
	v, ok := p.value(0)
	p.blanks()
	return v, ok && p.at == len(p.text)
}

// A pythonReader reads values, one after the other.
type pythonReader struct {
	text string
	at   int
}

func (p *pythonReader) blanks() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// peek returns the next byte, 0 at the end.
func (p *pythonReader) peek() byte {
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// take skips a byte, if it is the next one.
func (p *pythonReader) take(c byte) bool {
	if p.peek() != c || c == 0 {
		return false
	}
	p.at++
	return true
}

// value reads one value.
func (p *pythonReader) value(depth int) (value, bool) {
	p.blanks()
	if depth > maxDepth {
		return value{}, false
	}
	from := p.at
	var v value
	ok := false
	switch c := p.peek(); {
	case c == '[':
		v, ok = p.list(']', depth)
	case c == '(':
		v, ok = p.list(')', depth)
	case c == '{':
		v, ok = p.dict(depth)
	case c == '<':
		ok = p.angles()
	case c == '\'' || c == '"':
		return p.quoted(false)
	case (c == 'b' || c == 'u') && p.at+1 < len(p.text) && isQuote(p.text[p.at+1]):
		p.at++
		return p.quoted(c == 'b')
	default:
		ok = p.word(depth)
	}
	v.text = p.text[from:p.at]
	if m := enumMember.FindStringSubmatch(v.text); m != nil {
		v.text, v.isText = m[1], true
	}
	return v, ok
}

// enumMember matches a member of an enumeration whose value is a text.
var enumMember = lazyregexp.New(`^<[A-Za-z_][\w.]*: ['"]([^'"\\]*)['"]>$`)

func isQuote(c byte) bool { return c == '\'' || c == '"' }

// list reads a list or a tuple.
func (p *pythonReader) list(end byte, depth int) (value, bool) {
	v := value{isList: true}
	p.at++
	for {
		if p.blanks(); p.take(end) {
			return v, true
		}
		item, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		v.items = append(v.items, item)
		if p.blanks(); !p.take(',') && p.peek() != end {
			return v, false
		}
	}
}

// dict reads a dict or a set.
func (p *pythonReader) dict(depth int) (value, bool) {
	var v value
	p.at++
	for {
		if p.blanks(); p.take('}') {
			return v, true
		}
		key, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		if p.blanks(); p.take(':') {
			of, ok := p.value(depth + 1)
			if !ok {
				return v, false
			}
			v.fields = append(v.fields, field{key, of})
		}
		if p.blanks(); !p.take(',') && p.peek() != '}' {
			return v, false
		}
	}
}

// angles reads the form of an object without one of its own, such as <Action.DELETE: 1>.
func (p *pythonReader) angles() bool {
	open := 0
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '<':
			open++
		case '>':
			if open--; open == 0 {
				p.at++
				return true
			}
		}
	}
	return false
}

// word reads a number, None, True, or the form of an object, such as
// datetime.date(2026, 1, 2) or User(name='jane').
func (p *pythonReader) word(depth int) bool {
	from := p.at
	for p.at < len(p.text) && isWordByte(p.text[p.at]) {
		p.at++
	}
	if p.at == from {
		return false
	}
	if !p.take('(') {
		return true
	}
	for {
		if p.blanks(); p.take(')') {
			return true
		}
		if _, ok := p.value(depth + 1); !ok {
			return false
		}
		if p.take('=') {
			if _, ok := p.value(depth + 1); !ok {
				return false
			}
		}
		if p.blanks(); !p.take(',') && p.peek() != ')' {
			return false
		}
	}
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.+-", c) >= 0 ||
		c >= 0x80
}

// quoted reads a string in quotes.
func (p *pythonReader) quoted(isBytes bool) (value, bool) {
	quote := p.text[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case quote:
			p.at++
			return value{text: b.String(), isText: true}, true
		case '\\':
			p.escape(&b, isBytes)
		default:
			b.WriteByte(c)
			p.at++
		}
	}
	return value{}, false
}

// escape reads a backslash and what follows it. Of bytes, the text is taken as Latin-1.
func (p *pythonReader) escape(b *strings.Builder, isBytes bool) {
	p.at++
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	c := p.peek()
	n := digits[c]
	if isBytes && c != 'x' {
		n = 0
	}
	if n > 0 && p.at+1+n <= len(p.text) {
		if code, err := strconv.ParseUint(p.text[p.at+1:p.at+1+n], 16, 32); err == nil && code <= 0x10ffff {
			b.WriteRune(rune(code)) //nolint:gosec // at most 0x10ffff
			p.at += 1 + n
			return
		}
	}
	switch c {
	case 'n', 'r', 't':
		b.WriteByte(' ')
	case 0:
		return
	case '\\', '\'', '"':
		b.WriteByte(c)
	default: // no escape of Python
		b.WriteByte('\\')
		b.WriteByte(c)
	}
	p.at++
}
