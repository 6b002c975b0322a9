package bundle

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

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
