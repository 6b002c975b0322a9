package rounds

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
)

// A Journal is a file to which each step is written when it ends, as a line of JSON. A line is
// on the disk before the next step of the same worker starts, so that a run that was killed can
// tell what it did. A nil Journal keeps nothing.
type Journal struct {
	integration string

	mu   sync.Mutex
	file *os.File
	err  error // of the first line that could not be written
}

// An entry is one line of a journal.
type entry struct {
	Time        time.Time `json:"time"`
	Integration string    `json:"integration"`
	integration.Deed
}

// errJournal says that the journal cannot be written.
var errJournal = errors.New("the journal cannot be written, so no further step starts")

// OpenJournal opens a journal for the steps of an integration, and continues one that exists. The
// caller closes it.
func OpenJournal(name, of string) (*Journal, error) {
	folder, err := safepath.OpenFolder(filepath.Dir(name))
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("opening the journal: %w", err))
	}
	defer folder.Close()
	file, err := safepath.OpenFileIn(folder, filepath.Base(name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("opening the journal: %w", err))
	}
	j := &Journal{integration: of, file: file}
	if err := j.endLine(); err != nil {
		_ = file.Close()
		return nil, cli.Invalid(fmt.Errorf("the journal %q cannot be used: %w", name, err))
	}
	return j, nil
}

// endLine ends a line that a run that was killed has cut off.
func (j *Journal) endLine() error {
	info, err := j.file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case info.Size() == 0:
		return nil
	}
	last := make([]byte, 1)
	if _, err := j.file.ReadAt(last, info.Size()-1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if last[0] != '\n' {
		_, err = j.file.WriteString("\n")
	}
	return err
}

// add writes a step. After an error nothing more is written.
func (j *Journal) add(d integration.Deed) error {
	if j == nil {
		return nil
	}
	raw, err := json.Marshal(entry{time.Now().UTC(), j.integration, d})
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if err == nil {
		_, err = j.file.Write(append(raw, '\n'))
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.err = fmt.Errorf("%w: %w", errJournal, err)
	}
	return j.err
}

// Close closes the file.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
