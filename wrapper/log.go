package wrapper

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/sanitize"
)

// A LogStore keeps complete logs. A task that says nothing has none.
type LogStore interface {
	// Create opens the log of an attempt of a task, the first is 1, empty, and
	// returns the path to it that the result shows.
	Create(task string, attempt int) (log io.WriteCloser, shown string, err error)
	// Remove removes the log that an earlier run left of an attempt, if there is
	// one.
	Remove(task string, attempt int) error
}

// A LogFolder is a LogStore with one file per attempt of a task. The zero value is not
// usable: Dir is required.
type LogFolder struct {
	Dir    string // made when missing
	Prefix string // of the paths in the results; "" means the last element of Dir
}

// Create makes a new file in the folder, and never one outside of it: the name
// is made from the task id as [LogName] says. What had that name is taken away, so
// that no link makes one file of two.
func (f LogFolder) Create(task string, attempt int) (io.WriteCloser, string, error) {
	if err := os.MkdirAll(f.Dir, 0o750); err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	name := attemptName(task, attempt)
	const anew = os.O_CREATE | os.O_WRONLY | os.O_EXCL
	file, err := root.OpenFile(name, anew, 0o640)
	if errors.Is(err, fs.ErrExist) && root.Remove(name) == nil {
		file, err = root.OpenFile(name, anew, 0o640)
	}
	if err != nil {
		return nil, "", err
	}
	prefix := f.Prefix
	if prefix == "" {
		prefix = filepath.Base(f.Dir)
	}
	return file, path.Join(prefix, name), nil
}

// Read returns the log of an attempt as it was kept, with all that was masked.
// One that is larger than limit bytes is an error.
func (f LogFolder) Read(task string, attempt int, limit int64) (string, error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	file, err := root.Open(attemptName(task, attempt))
	if err != nil {
		return "", err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("the log is larger than %d bytes", limit)
	}
	return string(raw), err
}

// attemptName is the file name of an attempt's log: [LogName] for the first, and
// with its number for the others.
func attemptName(task string, attempt int) string {
	name := LogName(task)
	if attempt > 1 {
		name = strings.TrimSuffix(name, ".log") + fmt.Sprintf(".%d.log", attempt)
	}
	return name
}

// Remove removes the file of an earlier run.
func (f LogFolder) Remove(task string, attempt int) error {
	if err := os.Remove(filepath.Join(f.Dir, attemptName(task, attempt))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing an earlier one: %w", err)
	}
	return nil
}

// maxName bounds the readable part of a log's name.
const maxName = 60

// LogName returns the file name for a task's log: the readable part of the id
// and a hash of all of it. It is a plain name on every system, and different ids
// have different names even where case does not count.
func LogName(task string) string {
	readable := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_':
			return r
		}
		return '-'
	}, task)
	readable = strings.Trim(readable[:min(len(readable), maxName)], "-")
	if readable == "" {
		readable = "task"
	}
	sum := sha256.Sum256([]byte(task))
	return readable + "-" + hex.EncodeToString(sum[:6]) + ".log"
}

const (
	tailBytes  = 4 << 10
	tailLines  = 20
	tailWindow = 64 << 10 // raw bytes kept to make the tail from
)

// A sink takes a task's output: masked, into the log and the tail. It can be
// used by several goroutines at once. Trouble with the log is remembered, never
// returned to the writer: a full disk must not stop a task half-way.
//
// The log is opened when there is something to write, since making a file costs
// about half as much as running a command.
type sink struct {
	mu      sync.Mutex
	mask    maskStream
	logs    LogStore // nil: not kept
	task    string
	attempt int
	log     io.WriteCloser // nil: not opened
	shown   string         // where it is, for the result
	recent  []byte
	err     error
	closed  bool
}

// Write takes output until the sink is closed.
func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, os.ErrClosed
	}
	s.store(s.mask.feed(p))
	return len(p), nil
}

// close ends the log and returns the tail.
func (s *sink) close() (tail string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.store(s.mask.flush())
	switch {
	case s.log != nil:
		if err := s.log.Close(); err != nil && s.err == nil {
			s.err = err
		}
	case s.logs != nil && s.err == nil:
		s.err = s.logs.Remove(s.task, s.attempt)
	}
	// Escapes inside a secret hid it from the masker; they are gone now.
	return tailOf(s.mask.text(sanitize.Text(string(s.recent)))), s.err
}

// store writes masked output.
func (s *sink) store(out []byte) {
	s.recent = append(s.recent, out...)
	if len(s.recent) > 2*tailWindow {
		s.recent = append(s.recent[:0], s.recent[len(s.recent)-tailWindow:]...)
	}
	if s.logs == nil || s.err != nil || len(out) == 0 {
		return
	}
	if s.log == nil {
		// Without a log the task still runs: its tail may tell what is wrong.
		if s.log, s.shown, s.err = s.logs.Create(s.task, s.attempt); s.err != nil {
			s.log = nil
			return
		}
	}
	n, err := s.log.Write(out)
	if err == nil && n < len(out) {
		err = io.ErrShortWrite
	}
	if err != nil {
		s.err = fmt.Errorf("writing: %w", err)
	}
}

// Tail returns the end of a whole log as a result has it.
func Tail(log string) string { return tailOf(sanitize.Text(log)) }

// tailOf returns the last lines of a text, bounded in lines and bytes.
func tailOf(text string) string {
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
