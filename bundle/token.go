package bundle

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// text accepts a string and notes whether it has escapes.
func (s *scanner) text() error {
	i := s.pos + 1
	s.escaped = false
	for {
		i = s.plain(i)
		if s.pos = i; i >= len(s.data) {
			return s.fail("")
		}
		switch s.data[i] {
		case '"':
			s.pos++
			return nil
		case '\\':
			n, err := s.escape()
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

// plain returns the first place from i on with a byte that means something in
// a string: a quote, a backslash or a control character.
func (s *scanner) plain(i int) int {
	for ; i+8 <= len(s.data); i += 8 {
		if m := special(binary.LittleEndian.Uint64(s.data[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(s.data) && plainByte[s.data[i]] {
		i++
	}
	return i
}

// special marks, among eight bytes, those that mean something in a string by
// their highest bit. A byte is below n when subtracting n borrows from that
// bit; a borrow can mark bytes behind a marked one wrongly, so only the first
// mark counts.
func special(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	marks := (w - ones*0x20) & ^w
	marks |= (quote - ones) & ^quote
	marks |= (slash - ones) & ^slash
	return marks & tops
}

// escape accepts the escape at the position and returns its length.
func (s *scanner) escape() (int, error) {
	rest := s.data[s.pos:]
	if len(rest) < 2 {
		s.pos = len(s.data)
		return 0, s.fail("")
	}
	if bytes.IndexByte([]byte(`"\/bfnrt`), rest[1]) >= 0 {
		return 2, nil
	}
	if rest[1] != 'u' {
		return 0, s.fail("unknown escape \\%c in a string", rest[1])
	}
	if len(rest) < 6 {
		s.pos = len(s.data)
		return 0, s.fail("")
	}
	for _, c := range rest[2:6] {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
			return 0, s.fail("\\u needs four hex digits")
		}
	}
	return 6, nil
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail("expected %s", word)
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) number() error {
	if s.at() == '-' {
		s.pos++
	}
	if s.at() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.at() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.at(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.at(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

func (s *scanner) digits() error {
	start := s.pos
	for '0' <= s.at() && s.at() <= '9' {
		s.pos++
	}
	if s.pos == start {
		return s.fail("expected a digit, found %q", s.at())
	}
	return nil
}
