package bundler

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// spoolChunk is the number of bytes of a spool that stay in memory.
const spoolChunk = 1 << 20

// A spool holds the texts of records until all are made and can be written in
// order. Once it is larger than a chunk, it uses a temporary file.
type spool struct {
	mu     sync.Mutex
	tail   []byte
	before int64 // bytes in the file, which come before tail
	file   *os.File
}

// A span is the place of a text in the spool, or a text that the cache kept.
type span struct {
	at   int64
	size int
	kept []byte // nil: in the spool
}

// length returns the length of the text.
func (s span) length() int { return s.size + len(s.kept) }

// add appends a copy of b.
func (s *spool) add(b []byte) (span, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := span{at: s.before + int64(len(s.tail)), size: len(b)}
	s.tail = append(s.tail, b...)
	if len(s.tail) < spoolChunk {
		return at, nil
	}
	return at, s.flush()
}

// flush moves the bytes in memory to the temporary file.
func (s *spool) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp("", "prcheck-bundle-*")
		if err != nil {
			return fmt.Errorf("opening a temporary file: %w", err)
		}
		s.file = f
	}
	n, err := s.file.Write(s.tail)
	if err != nil {
		return fmt.Errorf("writing a temporary file: %w", err)
	}
	s.before += int64(n)
	s.tail = s.tail[:0]
	return nil
}

// read returns a text, in buf if it is in the spool and buf is large enough.
func (s *spool) read(p span, buf []byte) ([]byte, error) {
	if p.kept != nil {
		return p.kept, nil
	}
	if cap(buf) < p.size {
		buf = make([]byte, p.size+p.size/2)
	}
	buf = buf[:p.size]
	n := 0
	if p.at < s.before {
		upTo := min(int64(p.size), s.before-p.at)
		var err error
		if n, err = s.file.ReadAt(buf[:upTo], p.at); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading a temporary file: %w", err)
		}
	}
	if n < p.size {
		from := p.at + int64(n) - s.before
		if from < 0 || from+int64(p.size-n) > int64(len(s.tail)) {
			return nil, errors.New("a temporary file became shorter: try again")
		}
		copy(buf[n:], s.tail[from:])
	}
	return buf, nil
}

// close removes the temporary file.
func (s *spool) close() {
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
