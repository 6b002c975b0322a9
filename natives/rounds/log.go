package rounds

import (
	"bytes"
	"io"
	"sync"

	"github.com/app-sre/prcheck/internal/sanitize"
)

// maxLine is how many bytes of a line of the log are written at once.
const maxLine = 64 << 10

// A lineWriter cleans each line of a log before it is written.
type lineWriter struct {
	out   io.Writer
	clean func(string) string // masks

	mu   sync.Mutex
	rest []byte // a line that has not ended
}

// Write takes a piece of the log.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if room := maxLine - len(w.rest); len(line) > room {
			line, after, ended = rest[:room], rest[room:], true
		}
		w.rest, rest = append(w.rest, line...), after
		if !ended {
			break
		}
		if err := w.writeLine(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// flush writes a last line that has not ended.
func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		_ = w.writeLine() // the log is for people
	}
}

func (w *lineWriter) writeLine() error {
	line := sanitize.Text(w.clean(string(w.rest))) + "\n"
	w.rest = w.rest[:0]
	_, err := io.WriteString(w.out, line)
	return err
}

// A lockedWriter writes one text at a time.
type lockedWriter struct {
	mu  sync.Mutex
	out io.Writer
}

// Write writes a text.
func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}
