package mask

// A Stream masks a text that comes in pieces. It holds back the end of the pieces so
// far if a secret may begin there. It is for one goroutine.
type Stream struct {
	masker  *Masker
	matcher matcher
	digits  scanners
	held    []byte
	until   int // held[:until] belongs to a secret whose mask is written already
}

// Stream returns a stream for one text.
func (m *Masker) Stream() *Stream { return &Stream{masker: m} }

// Feed takes the next piece of the text and returns the part that is masked by now.
func (s *Stream) Feed(piece []byte) []byte {
	s.held = append(s.held, piece...)
	return s.advance(false)
}

// Flush returns the rest of the text, after its last piece.
func (s *Stream) Flush() []byte { return s.advance(true) }

// advance masks every byte that belongs to a secret. Secrets that overlap become one
// mask, so that no part of either stays visible.
func (s *Stream) advance(final bool) []byte {
	s.matcher.table = s.masker.current()
	s.digits.scan(s.matcher.table, s.held, final)
	out := make([]byte, 0, len(s.held))
	at := 0
	for ; at < len(s.held); at++ {
		if plain := s.plain(at); plain > at {
			out = append(out, s.held[at:plain]...)
			at = plain
		}
		if at >= s.digits.open && !final {
			break
		}
		size, open := s.matcher.match(s.held[at:])
		if open && !final {
			break
		}
		size = max(size, s.digits.size(at))
		if size > 0 && at >= s.until {
			out = append(out, mask...)
		}
		s.until = max(s.until, at+size)
		if at >= s.until {
			out = append(out, s.held[at])
		}
	}
	s.held = append(s.held[:0], s.held[at:]...)
	s.until = max(0, s.until-at)
	s.digits.forget(at)
	return out
}

// plain returns the next place from at on where a secret may begin or still goes on.
func (s *Stream) plain(at int) int {
	if at < s.until {
		return at
	}
	end := min(len(s.held)-1, s.digits.next())
	for at < end && !s.matcher.mayBegin(s.held[at], s.held[at+1]) {
		at++
	}
	return at
}
