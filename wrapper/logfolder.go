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

	"github.com/app-sre/prcheck/internal/safepath"
)

// A LogStore keeps the complete logs of tasks. An attempt without output has no log.
type LogStore interface {
	// Create opens an empty log for one attempt of a task and returns the path that
	// the result shows for it. The first attempt is number 1.
	Create(task string, attempt int) (log io.WriteCloser, shown string, err error)
	// Remove removes the log that an earlier run left for this attempt. It is no
	// error if there is no such log.
	Remove(task string, attempt int) error
}

// A LogFolder is a LogStore that keeps one file per attempt of a task. Dir is
// required.
type LogFolder struct {
	Dir    string // is created if it does not exist
	Prefix string // folder of the paths in the results; "" means the last element of Dir
}

// Create makes a new file in the folder; [LogName] tells its name. If the name is
// taken, Create removes the old entry first. So it never writes through a link, and
// never outside of the folder.
func (f LogFolder) Create(task string, attempt int) (io.WriteCloser, string, error) {
	root, err := safepath.MakeFolder(f.Dir)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	name := attemptLogName(task, attempt)
	const newFile = os.O_CREATE | os.O_WRONLY | os.O_EXCL
	file, err := root.OpenFile(name, newFile, 0o640)
	if errors.Is(err, fs.ErrExist) && root.Remove(name) == nil {
		file, err = root.OpenFile(name, newFile, 0o640)
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

// Read returns the masked log of an attempt. A log that is larger than limit bytes
// is an error.
func (f LogFolder) Read(task string, attempt int, limit int64) (string, error) {
	root, err := safepath.OpenFolder(f.Dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	file, err := safepath.OpenIn(root, attemptLogName(task, attempt))
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

// Remove removes the file that an earlier run left for an attempt.
func (f LogFolder) Remove(task string, attempt int) error {
	root, err := safepath.OpenFolder(f.Dir)
	if err == nil {
		defer root.Close()
		err = root.Remove(attemptLogName(task, attempt))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the log of an earlier run: %w", err)
	}
	return nil
}

// attemptLogName returns the file name of an attempt's log: [LogName] for the first
// attempt, and LogName with the number of the attempt for a later one.
func attemptLogName(task string, attempt int) string {
	name := LogName(task)
	if attempt > 1 {
		name = strings.TrimSuffix(name, ".log") + fmt.Sprintf(".%d.log", attempt)
	}
	return name
}

// maxReadableName is the maximal length in bytes of the readable part of a log's name.
const maxReadableName = 60

// LogName returns the file name of a task's log: a readable part of the task id,
// then a hash of the whole id. The name is valid on every system. Different ids have
// different names, also on systems that ignore case.
func LogName(task string) string {
	readable := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_':
			return r
		}
		return '-'
	}, task)
	readable = strings.Trim(readable[:min(len(readable), maxReadableName)], "-")
	if readable == "" {
		readable = "task"
	}
	sum := sha256.Sum256([]byte(task))
	return readable + "-" + hex.EncodeToString(sum[:6]) + ".log"
}
