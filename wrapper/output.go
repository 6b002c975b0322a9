package wrapper

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/sanitize"
)

// The size of a tail, and the number of bytes kept to make a tail from.
const (
	tailBytes  = 4 << 10
	tailLines  = 20
	tailWindow = 64 << 10
)

// An outputWriter masks the output of one attempt, writes it to the attempt's log and
// keeps its end for the tail. Several goroutines may write at once. Write never
// returns an error of the log, because a full disk must not stop a task half-way;
// close returns it.
//
// The log is created with the first output, because creating a file costs about half
// as much as running a command.
type outputWriter struct {
	mu        sync.Mutex
	masker    *mask.Masker
	stream    *mask.Stream
	logs      LogStore // nil if logs are not kept
	task      string
	attempt   int
	log       io.WriteCloser // nil until there is output
	shownPath string         // path of the log, for the result
	recent    []byte         // the end of the masked output
	err       error          // the first error of the log
	closed    bool
}

// Write takes output until the writer is closed.
func (w *outputWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, os.ErrClosed
	}
	w.writeMasked(w.stream.Feed(p))
	return len(p), nil
}

// close closes the log and returns the tail of the output.
func (w *outputWriter) close() (tail string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.writeMasked(w.stream.Flush())
	switch {
	case w.log != nil:
		if err := w.log.Close(); err != nil && w.err == nil {
			w.err = err
		}
	case w.logs != nil && w.err == nil:
		w.err = w.logs.Remove(w.task, w.attempt)
	}
	// Terminal escapes inside a secret hide the secret from the masker. The text
	// without escapes is therefore masked again.
	return lastLines(w.masker.Text(sanitize.Text(string(w.recent)))), w.err
}

// writeMasked writes masked output to the log and keeps its end.
func (w *outputWriter) writeMasked(out []byte) {
	w.recent = append(w.recent, out...)
	if len(w.recent) > 2*tailWindow {
		w.recent = append(w.recent[:0], w.recent[len(w.recent)-tailWindow:]...)
	}
	if w.logs == nil || w.err != nil || len(out) == 0 {
		return
	}
	if w.log == nil {
		// If the log cannot be created, the task still runs: its tail may explain
		// the failure.
		if w.log, w.shownPath, w.err = w.logs.Create(w.task, w.attempt); w.err != nil {
			w.log = nil
			return
		}
	}
	n, err := w.log.Write(out)
	if err == nil && n < len(out) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("writing: %w", err)
	}
}

// Tail returns the tail of a complete log, in the form that a result has.
func Tail(log string) string { return lastLines(sanitize.Text(log)) }

// lastLines returns the last lines of a text: at most tailLines lines and tailBytes
// bytes.
func lastLines(text string) string {
	text = strings.Trim(text, "\n")
	from := len(text)
	for range tailLines {
		newline := strings.LastIndexByte(text[:from], '\n')
		if newline < 0 {
			from = 0
			break
		}
		from = newline
	}
	text = strings.TrimPrefix(text[from:], "\n")
	if len(text) <= tailBytes {
		return text
	}
	from = len(text) - tailBytes
	for !utf8.RuneStart(text[from]) {
		from++
	}
	return text[from:]
}
