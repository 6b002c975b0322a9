package bundle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// maxDepth limits the nesting of a document, so that hostile input cannot exhaust the
// stack. Real bundles nest less than 20 levels.
const maxDepth = 500

// A scanner validates JSON (RFC 8259) without decoding it. It records the strings that may
// name a file.
type scanner struct {
	data      []byte
	pos       int
	depth     int
	mentions  []mention // mentions of all files, in order
	lastKey   span      // last key that was scanned
	escaped   bool      // the last string that was scanned has escapes
	fileStart int       // position at which the current file begins
}

// A mention is a string value that may name a datafile or a resource: it begins with a
// slash or with an escape, or it is the value of $ref. Offsets include the quotes. They
// count from the start of the file inside the bundle.
type mention struct {
	start, end uint32
	keyKind    keyKind
	holder     span // key under which the object around the string stands
}

// A span is a part of a file. The span of a string does not include the quotes.
type span struct{ start, end uint32 }

// A place describes the object key under which a value stands, directly or as an item of a
// list.
type place struct {
	keyKind     keyKind
	key, holder span
}

// A keyKind distinguishes the keys under which mentions stand.
type keyKind uint8

const (
	otherKey keyKind = iota
	refKey           // $ref
	pathKey          // path
)

func kindOfKey(key []byte) keyKind {
	switch string(key) {
	case "$ref":
		return refKey
	case "path":
		return pathKey
	}
	return otherKey
}

// A SyntaxError says where and why a document is not valid JSON.
type SyntaxError struct {
	Offset int // in bytes
	Msg    string
}

// Error returns the offset and the message.
func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg) }

var (
	spaceByte  = byteSet(" \t\n\r")
	numberByte = byteSet("0123456789+-.eE") // bytes of numbers
	plainByte  = plainBytes()               // bytes that need no check inside a string
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

// fail returns a syntax error at the current position.
func (s *scanner) fail(format string, args ...any) error {
	if s.pos >= len(s.data) {
		return s.endsTooEarly()
	}
	return &SyntaxError{s.pos, fmt.Sprintf(format, args...)}
}

func (s *scanner) endsTooEarly() error {
	return &SyntaxError{len(s.data), "the document ends too early"}
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

// expect skips white space and the byte c, which must be there.
func (s *scanner) expect(c byte) error {
	if s.peek() != c || s.pos >= len(s.data) {
		return s.fail("expected %q, found %q", c, s.current())
	}
	s.pos++
	return nil
}

// current returns the byte at the current position, or 0 at the end.
func (s *scanner) current() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// scanDocument scans a document, which is exactly one value.
func (s *scanner) scanDocument() error {
	if err := s.scanValue(place{}); err != nil {
		return err
	}
	if s.peek(); s.pos < len(s.data) {
		return s.fail("unexpected %q after the document", s.current())
	}
	return nil
}

// scanValue scans one value.
func (s *scanner) scanValue(at place) error {
	switch c := s.peek(); {
	case c == '"':
		start := s.pos
		if err := s.scanString(); err != nil {
			return err
		}
		if first := s.data[start+1]; first == '/' || first == '\\' || at.keyKind == refKey {
			s.mentions = append(s.mentions, mention{uint32(start - s.fileStart), uint32(s.pos - s.fileStart), at.keyKind,
				at.holder})
		}
		return nil
	case c == '{':
		return s.scanMembers(at.key)
	case c == '[':
		return s.scanArray(at)
	case c == '-' || '0' <= c && c <= '9':
		return s.scanNumber()
	case c == 't':
		return s.scanLiteral("true")
	case c == 'f':
		return s.scanLiteral("false")
	case c == 'n':
		return s.scanLiteral("null")
	}
	return s.fail("unexpected %q", s.current())
}

// scanObject scans an object. It calls member with each key; member must scan the value.
func (s *scanner) scanObject(member func(key []byte) error) error {
	if err := s.enterLevel('{'); err != nil {
		return err
	}
	for more := s.peek() != '}'; more; {
		key, err := s.scanKey()
		if err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		if more, err = s.scanSeparator('}'); err != nil {
			return err
		}
	}
	s.leaveLevel()
	return nil
}

// scanMembers scans an object inside a file. holder is the key under which the object
// stands.
func (s *scanner) scanMembers(holder span) error {
	if err := s.enterLevel('{'); err != nil {
		return err
	}
	for more := s.peek() != '}'; more; {
		key, err := s.scanKey()
		if err != nil {
			return err
		}
		if err := s.scanValue(s.placeOf(key, holder)); err != nil {
			return err
		}
		if more, err = s.scanSeparator('}'); err != nil {
			return err
		}
	}
	s.leaveLevel()
	return nil
}

// scanKey scans a key and its colon, and returns the decoded key.
func (s *scanner) scanKey() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.fail("expected a key in quotes, found %q", s.current())
	}
	start := s.pos + 1
	if err := s.scanString(); err != nil {
		return nil, err
	}
	key := s.data[start : s.pos-1]
	s.lastKey = span{uint32(start - s.fileStart), uint32(s.pos - 1 - s.fileStart)}
	if s.escaped {
		key = []byte(unescape(key))
	}
	if s.current() == ':' {
		s.pos++
		return key, nil
	}
	return key, s.expect(':')
}

// scanSeparator scans a comma, if there is one. It reports whether another element follows;
// if not, the closing bracket is next.
func (s *scanner) scanSeparator(closing byte) (bool, error) {
	switch s.peek() {
	case ',':
		s.pos++
		return true, nil
	case closing:
		return false, nil
	}
	return false, s.fail("expected ',' or %q, found %q", closing, s.current())
}

// placeOf returns the place of the value after the key that was scanned last. holder is the
// key under which the object around it stands.
func (s *scanner) placeOf(key []byte, holder span) place {
	return place{kindOfKey(key), s.lastKey, holder}
}

func (s *scanner) scanArray(at place) error {
	if err := s.enterLevel('['); err != nil {
		return err
	}
	for more := s.peek() != ']'; more; {
		if err := s.scanValue(at); err != nil {
			return err
		}
		var err error
		if more, err = s.scanSeparator(']'); err != nil {
			return err
		}
	}
	s.leaveLevel()
	return nil
}

// enterLevel scans an opening bracket and counts the level.
func (s *scanner) enterLevel(c byte) error {
	if err := s.expect(c); err != nil {
		return err
	}
	if s.depth++; s.depth > maxDepth {
		return &SyntaxError{s.pos, fmt.Sprintf("nested more than %d levels deep", maxDepth)}
	}
	return nil
}

// leaveLevel scans a closing bracket, which the caller has already seen.
func (s *scanner) leaveLevel() {
	s.pos++
	s.depth--
}

// scanString scans a string and records whether it has escapes.
func (s *scanner) scanString() error {
	i := s.pos + 1
	s.escaped = false
	for {
		i = s.skipPlain(i)
		if s.pos = i; i >= len(s.data) {
			return s.endsTooEarly()
		}
		switch s.data[i] {
		case '"':
			s.pos++
			return nil
		case '\\':
			n, err := s.scanEscape()
			if err != nil {
				return err
			}
			i += n
			s.escaped = true
		default:
			return s.fail("control character %q in a string", s.data[i])
		}
	}
}

// skipPlain returns the first index from i on with a byte that is special in a string: a
// quote, a backslash or a control character.
func (s *scanner) skipPlain(i int) int {
	for ; i+8 <= len(s.data); i += 8 {
		if m := markSpecial(binary.LittleEndian.Uint64(s.data[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(s.data) && plainByte[s.data[i]] {
		i++
	}
	return i
}

// markSpecial sets the highest bit of each of the eight bytes that is special in a string.
// A byte is below n if subtracting n from it borrows from its highest bit. A borrow can
// mark bytes after a marked byte wrongly, so only the first mark counts.
func markSpecial(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	marks := (w - ones*0x20) & ^w
	marks |= (quote - ones) & ^quote
	marks |= (slash - ones) & ^slash
	return marks & tops
}

// scanEscape scans the escape at the current position and returns its length.
func (s *scanner) scanEscape() (int, error) {
	rest := s.data[s.pos:]
	if len(rest) < 2 {
		s.pos = len(s.data)
		return 0, s.endsTooEarly()
	}
	if bytes.IndexByte([]byte(`"\/bfnrt`), rest[1]) >= 0 {
		return 2, nil
	}
	if rest[1] != 'u' {
		return 0, s.fail("unknown escape \\%c in a string", rest[1])
	}
	if len(rest) < 6 {
		s.pos = len(s.data)
		return 0, s.endsTooEarly()
	}
	for _, c := range rest[2:6] {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
			return 0, s.fail("\\u needs four hex digits")
		}
	}
	return 6, nil
}

func (s *scanner) scanLiteral(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail("expected %s", word)
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) scanNumber() error {
	if s.current() == '-' {
		s.pos++
	}
	if s.current() == '0' {
		s.pos++
	} else if err := s.scanDigits(); err != nil {
		return err
	}
	if s.current() == '.' {
		s.pos++
		if err := s.scanDigits(); err != nil {
			return err
		}
	}
	if c := s.current(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.current(); c == '+' || c == '-' {
			s.pos++
		}
		return s.scanDigits()
	}
	return nil
}

func (s *scanner) scanDigits() error {
	start := s.pos
	for '0' <= s.current() && s.current() <= '9' {
		s.pos++
	}
	if s.pos == start {
		return s.fail("expected a digit, found %q", s.current())
	}
	return nil
}
