package bundle

import "fmt"

// maxDepth bounds the nesting of a document, so that hostile input cannot
// exhaust the stack. Real bundles stay below 20.
const maxDepth = 500

// A scanner validates JSON (RFC 8259) without decoding it, and notes the
// strings that may name a file.
type scanner struct {
	data     []byte
	pos      int
	depth    int
	mentions []mention // of all files, one after the other
	lastKey  span      // the last key, as it is written
	escaped  bool      // the last string has escapes
	origin   int       // offsets of mentions count from here
}

// A mention is a string value that begins with a slash, or with an escape that
// may be one: it may name a datafile or a resource. Offsets include the quotes
// and count from the beginning of the file's own bytes.
type mention struct {
	start, end uint32
	kind       keyKind
	holder     span // of a reference: the key that its object, or a list of such, stands under
}

// A span is a part of a file, without the quotes when it is a string.
type span struct{ start, end uint32 }

// A place says where a value stands: the key it stands under, also as an item of
// a list, and the key of the object around it.
type place struct {
	kind        keyKind
	own, holder span
}

// A keyKind tells the keys that mentions stand under apart.
type keyKind uint8

const (
	otherKey keyKind = iota
	refKey           // $ref
	pathKey          // path
)

func kindOf(key []byte) keyKind {
	switch string(key) {
	case "$ref":
		return refKey
	case "path":
		return pathKey
	}
	return otherKey
}

// A SyntaxError says where a document stops being JSON.
type SyntaxError struct {
	Offset int // in bytes
	Msg    string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg) }

var (
	spaceByte  = byteSet(" \t\n\r")
	numberByte = byteSet("0123456789+-.eE") // what a number consists of
	plainByte  = plainBytes()               // what a string may hold without a closer look
)

func byteSet(members string) (set [256]bool) {
	for _, c := range []byte(members) {
		set[c] = true
	}
	return set
}

func plainBytes() (set [256]bool) {
	for c := 0x20; c < 256; c++ {
		set[c] = c != '"' && c != '\\'
	}
	return set
}

func (s *scanner) fail(format string, args ...any) error {
	if s.pos >= len(s.data) {
		return &SyntaxError{len(s.data), "the document ends too early"}
	}
	return &SyntaxError{s.pos, fmt.Sprintf(format, args...)}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if !spaceByte[c] {
			return c
		}
		s.pos++
	}
	return 0
}

func (s *scanner) expect(c byte) error {
	if s.peek() != c || s.pos >= len(s.data) {
		return s.fail("expected %q, found %q", c, s.at())
	}
	s.pos++
	return nil
}

func (s *scanner) at() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// document accepts exactly one value.
func (s *scanner) document() error {
	if err := s.value(place{}); err != nil {
		return err
	}
	if s.peek(); s.pos < len(s.data) {
		return s.fail("unexpected %q after the document", s.at())
	}
	return nil
}

// value accepts one value.
func (s *scanner) value(at place) error {
	switch c := s.peek(); {
	case c == '"':
		start := s.pos
		if err := s.text(); err != nil {
			return err
		}
		if first := s.data[start+1]; first == '/' || first == '\\' || at.kind == refKey {
			s.mentions = append(s.mentions, mention{uint32(start - s.origin), uint32(s.pos - s.origin), at.kind, at.holder})
		}
		return nil
	case c == '{':
		return s.members(at.own)
	case c == '[':
		return s.array(at)
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.fail("unexpected %q", s.at())
}

// object accepts an object and calls member at each value, with the key.
func (s *scanner) object(member func(key []byte) error) error {
	if err := s.enter('{'); err != nil {
		return err
	}
	for more := s.peek() != '}'; more; {
		key, err := s.key()
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		if more, err = s.next('}'); err != nil {
			return err
		}
	}
	return s.leave()
}

// members accepts an object that stands under the holder, inside a file.
func (s *scanner) members(holder span) error {
	if err := s.enter('{'); err != nil {
		return err
	}
	for more := s.peek() != '}'; more; {
		key, err := s.key()
		if err != nil {
			return err
		}
		if err := s.value(s.member(key, holder)); err != nil {
			return err
		}
		if more, err = s.next('}'); err != nil {
			return err
		}
	}
	return s.leave()
}

// key accepts a key and its colon, and returns it decoded.
func (s *scanner) key() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fail("expected a key in quotes, found %q", s.at())
	}
	start := s.pos + 1
	if err := s.text(); err != nil {
		return nil, err
	}
	key := s.data[start : s.pos-1]
	s.lastKey = span{uint32(start - s.origin), uint32(s.pos - 1 - s.origin)}
	if s.escaped {
		key = []byte(unescape(key))
	}
	if s.at() == ':' {
		s.pos++
		return key, nil
	}
	return key, s.expect(':')
}

// next accepts a comma, or nothing before the closing bracket, and tells which.
func (s *scanner) next(closing byte) (bool, error) {
	switch s.peek() {
	case ',':
		s.pos++
		return true, nil
	case closing:
		return false, nil
	}
	return false, s.fail("expected ',' or %q, found %q", closing, s.at())
}

// member is the place of the value behind a key that was just read, in an
// object that stands under the holder.
func (s *scanner) member(key []byte, holder span) place {
	return place{kindOf(key), s.lastKey, holder}
}

func (s *scanner) array(at place) error {
	if err := s.enter('['); err != nil {
		return err
	}
	for more := s.peek() != ']'; more; {
		if err := s.value(at); err != nil {
			return err
		}
		var err error
		if more, err = s.next(']'); err != nil {
			return err
		}
	}
	return s.leave()
}

func (s *scanner) enter(c byte) error {
	if err := s.expect(c); err != nil {
		return err
	}
	if s.depth++; s.depth > maxDepth {
		return &SyntaxError{s.pos, fmt.Sprintf("nested more than %d levels deep", maxDepth)}
	}
	return nil
}

func (s *scanner) leave() error {
	s.pos++
	s.depth--
	return nil
}
