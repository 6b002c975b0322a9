package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/phrase"
)

// A parser reads one JSON text (RFC 8259). It is stricter than encoding/json: a key that
// stands twice in an object and invalid UTF-8 are mistakes.
type parser struct {
	text   string
	at     int
	values int // that may still be made
	depth  int // of levels that may still be opened
}

// A syntaxError is a mistake in a JSON text.
type syntaxError struct {
	line    int
	message string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.message) }

func newParser(raw []byte, limits Limits) (*parser, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if i := invalidUTF8(raw); i >= 0 {
		return nil, &syntaxError{1 + bytes.Count(raw[:i], []byte("\n")), "it is not valid UTF-8"}
	}
	return &parser{text: string(raw), values: limits.Values, depth: limits.Depth}, nil
}

// parse reads a JSON text. It returns how many values the text has.
func parse(raw []byte, limits Limits) (*Value, int, error) {
	p, err := newParser(raw, limits)
	if err != nil {
		return nil, 0, err
	}
	p.blanks()
	v, err := p.value(nil)
	if err != nil {
		return nil, 0, err
	}
	if p.blanks(); p.at < len(p.text) {
		return nil, 0, p.wrong("there is text after the end of the document")
	}
	return v, limits.Values - p.values, nil
}

func invalidUTF8(raw []byte) int {
	if utf8.Valid(raw) {
		return -1
	}
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && size < 2 {
			return i
		}
		i += size
	}
	return -1
}

func (p *parser) wrong(format string, args ...any) error {
	return &syntaxError{1 + strings.Count(p.text[:min(p.at, len(p.text))], "\n"), fmt.Sprintf(format, args...)}
}

// wanted is wrong, but for a text that ends before anything can be wrong.
func (p *parser) wanted(format string, args ...any) error {
	if p.at >= len(p.text) {
		return p.wrong("the document ends too early")
	}
	return p.wrong(format, args...)
}

func (p *parser) blanks() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) value(parent *Value) (*Value, error) {
	if p.values--; p.values < 0 {
		return nil, p.wrong("it has too many values")
	}
	v := &Value{parent: parent}
	var err error
	switch c := p.peek(); {
	case c == '{' || c == '[':
		err = p.composite(v, c)
	case c == '"':
		v.Kind = String
		v.text, err = p.str()
	case c == '-' || c >= '0' && c <= '9':
		v.Kind = Number
		v.text, err = p.number()
	default:
		err = p.word(v)
	}
	return v, err
}

func (p *parser) word(v *Value) error {
	for _, w := range []struct {
		text string
		kind Kind
	}{{"null", Null}, {"true", Bool}, {"false", Bool}} {
		if strings.HasPrefix(p.text[p.at:], w.text) {
			p.at += len(w.text)
			v.Kind, v.text = w.kind, w.text
			return nil
		}
	}
	return p.wanted("a JSON value is wanted, not %q", p.rune())
}

func (p *parser) rune() string {
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return string(r)
}

// composite reads a list or an object.
func (p *parser) composite(v *Value, begin byte) error {
	if p.depth--; p.depth < 0 {
		return p.wrong("its values are nested too deeply")
	}
	v.Kind = Array
	end := byte(']')
	if begin == '{' {
		v.Kind, end = Object, '}'
	}
	p.at++
	for p.blanks(); p.peek() != end; p.blanks() {
		if len(v.items) > 0 {
			if p.peek() != ',' {
				return p.wanted("a comma or %q is wanted", end)
			}
			p.at++
			p.blanks()
		}
		if v.Kind == Object {
			if err := p.name(v); err != nil {
				return err
			}
		}
		item, err := p.value(v)
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	p.at++
	p.depth++
	return nil
}

// name reads the name of the next member of an object, and the colon behind it.
func (p *parser) name(v *Value) error {
	if p.peek() != '"' {
		return p.wanted("the name of a member is wanted, in quotes")
	}
	name, err := p.str()
	if err != nil {
		return err
	}
	if !v.addName(name) {
		return p.wrong("%s", twice(v, name))
	}
	if p.blanks(); p.peek() != ':' {
		return p.wanted("a colon is wanted")
	}
	p.at++
	p.blanks()
	return nil
}

// addName adds the name of the next member to an object, false if the object has it.
func (v *Value) addName(name string) bool {
	if v.find(name) >= 0 {
		return false
	}
	v.names = append(v.names, name)
	switch n := len(v.names); {
	case n == manyMembers:
		v.index = make(map[string]int, 2*n)
		for i, name := range v.names {
			v.index[name] = i
		}
	case n > manyMembers:
		v.index[name] = n - 1
	}
	return true
}

func twice(v *Value, name string) string {
	return fmt.Sprintf("the key %s stands twice in %q", phrase.Cut(strconv.Quote(name), maxQuoted), v.Pointer())
}

// ParseValue reads a JSON text that is no document, such as a value in an override.
func ParseValue(raw []byte) (*Value, error) {
	v, _, err := parse(raw, Limits{}.withDefaults())
	return v, err
}

// number reads a number and returns its literal.
func (p *parser) number() (string, error) {
	begin := p.at
	if p.peek() == '-' {
		p.at++
	}
	ok := p.peek() == '0'
	if ok {
		p.at++
	} else {
		ok = p.digits()
	}
	if ok && p.peek() == '.' {
		p.at++
		ok = p.digits()
	}
	if c := p.peek(); ok && (c == 'e' || c == 'E') {
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		ok = p.digits()
	}
	if !ok {
		return "", p.wrong("a number is broken")
	}
	return p.text[begin:p.at], nil
}

func (p *parser) digits() bool {
	begin := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at > begin
}

// str reads a string and returns what it says. Without escapes that is a part of the text.
func (p *parser) str() (string, error) {
	p.at++
	begin := p.at
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.text[begin : p.at-1], nil
		case c == '\\':
			return p.escaped(p.text[begin:p.at])
		case c < ' ':
			return "", p.wrong("a control character stands in a string")
		}
	}
	return "", p.wrong("a string does not end")
}

// escaped reads the rest of a string that has escapes.
func (p *parser) escaped(head string) (string, error) {
	out := []byte(head)
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < ' ':
			return "", p.wrong("a control character stands in a string")
		case c != '\\':
			out = append(out, c)
		case p.peek() == 'u':
			r, ok := p.unicode()
			if !ok {
				return "", p.wrong("an escape in a string is broken")
			}
			out = utf8.AppendRune(out, r)
		default:
			i := strings.IndexByte(`"\/bfnrt`, p.peek())
			if i < 0 || p.at >= len(p.text) {
				return "", p.wrong("an escape in a string is broken")
			}
			out = append(out, "\"\\/\b\f\n\r\t"[i])
			p.at++
		}
	}
	return "", p.wrong("a string does not end")
}

// unicode reads the rest of \uXXXX, and a second half if the first is one of a pair. A half
// without its partner is U+FFFD, as in encoding/json.
func (p *parser) unicode() (rune, bool) {
	first, ok := p.hex(p.at + 1)
	if !ok {
		return 0, false
	}
	p.at += 5
	if !utf16.IsSurrogate(first) {
		return first, true
	}
	if strings.HasPrefix(p.text[p.at:], `\u`) {
		if second, ok := p.hex(p.at + 2); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				p.at += 6
				return r, true
			}
		}
	}
	return utf8.RuneError, true
}

func (p *parser) hex(at int) (rune, bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[at:at+4], 16, 16)
	return rune(n), err == nil
}

// maxQuoted is the length in bytes up to which foreign text is quoted.
const maxQuoted = 200

// Decode reads a JSON text as [ParseValue] does, with the same bounds and mistakes, and returns what
// [Value.Decode] returns. It is faster, for nobody asks where the values stand.
func Decode(raw []byte) (any, error) {
	p, err := newParser(raw, Limits{}.withDefaults())
	if err != nil {
		return nil, err
	}
	p.blanks()
	v, ok := p.decode()
	if p.blanks(); ok && p.at == len(p.text) {
		return v, nil
	}
	slow, err := ParseValue(raw) // it knows what to say
	if err != nil {
		return nil, err
	}
	return slow.Decode(), nil
}

// decode reads a value, false if the text is broken.
func (p *parser) decode() (any, bool) {
	if p.values--; p.values < 0 {
		return nil, false
	}
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if p.depth--; p.depth < 0 {
			return nil, false
		}
		defer func() { p.depth++ }()
		p.at++
		if c == '{' {
			return p.decodeObject()
		}
		return p.decodeList()
	case c == '"':
		text, err := p.str()
		return text, err == nil
	case c == '-' || c >= '0' && c <= '9':
		number, err := p.number()
		return json.Number(number), err == nil
	}
	var v Value
	err := p.word(&v)
	return v.Decode(), err == nil
}

func (p *parser) decodeList() (any, bool) {
	out := []any{}
	for p.blanks(); p.peek() != ']'; p.blanks() {
		if len(out) > 0 && !p.comma() {
			return nil, false
		}
		item, ok := p.decode()
		if !ok {
			return nil, false
		}
		out = append(out, item)
	}
	p.at++
	return out, true
}

func (p *parser) decodeObject() (any, bool) {
	out := map[string]any{}
	for p.blanks(); p.peek() != '}'; p.blanks() {
		if len(out) > 0 && !p.comma() {
			return nil, false
		}
		if p.peek() != '"' {
			return nil, false
		}
		name, err := p.str()
		if err != nil {
			return nil, false
		}
		if p.blanks(); p.peek() != ':' {
			return nil, false
		}
		p.at++
		p.blanks()
		if _, isThere := out[name]; isThere {
			return nil, false
		}
		var ok bool
		if out[name], ok = p.decode(); !ok {
			return nil, false
		}
	}
	p.at++
	return out, true
}

// comma reads a comma and the blanks behind it.
func (p *parser) comma() bool {
	if p.peek() != ',' {
		return false
	}
	p.at++
	p.blanks()
	return true
}
