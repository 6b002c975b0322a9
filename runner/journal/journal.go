package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
)

// A Journal takes the results of a run. Its methods may be called by several goroutines
// at once.
type Journal struct {
	file       *os.File
	remembered map[string]int

	mu  sync.Mutex
	err error // the first error of writing
}

// Begin begins a journal in a file that [Open] opened. With resume it continues the
// journal that the file holds, and returns the results in it by their tasks. An empty
// file holds no results.
//
// It is an error if the file is not a journal, or if the journal that is to be resumed
// belongs to another plan or to another part of the plan. Then the file is not changed.
func Begin(file *os.File, p *plan.Plan, resume bool) (*Journal, map[string]plan.Result, error) {
	j := &Journal{file: file}
	want := headerOf(p)
	raw, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the journal: %w", err)
	}
	lines := completeLines(raw)
	found, isEmpty, err := readHeader(raw, lines)
	switch {
	case err == nil && resume && !isEmpty:
		err = found.mismatch(want)
	case err == nil:
		lines = nil
	}
	if err == nil && len(raw) > maxBytes {
		err = errors.New("it is too large")
	}
	if err != nil {
		return nil, nil, cli.Invalid(fmt.Errorf("the journal %q cannot be used: %w", file.Name(), err))
	}
	if err := file.Truncate(int64(len(lines))); err != nil {
		return nil, nil, fmt.Errorf("beginning the journal: %w", err)
	}
	if len(lines) > 0 {
		var results map[string]plan.Result
		results, j.remembered = readResults(lines, p)
		return j, results, nil
	}
	j.writeLine(want)
	return j, nil, j.err
}

// Add writes a result if it is final.
func (j *Journal) Add(r plan.Result) {
	if isFinal(r) {
		j.writeLine(r)
	}
}

// MarkRemembered writes that the state remembers all results so far.
func (j *Journal) MarkRemembered() { j.writeLine(rememberedMark{true}) }

// RememberedAttempts returns, by task, how many attempts the state remembered before
// this run.
func (j *Journal) RememberedAttempts() map[string]int { return j.remembered }

// Err returns the first error of writing, nil if the journal is complete.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// writeLine writes a value as one line. After an error nothing more is written.
func (j *Journal) writeLine(value any) {
	raw, err := json.Marshal(value)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	if err == nil {
		_, err = j.file.Write(append(raw, '\n'))
	}
	if err != nil {
		j.err = fmt.Errorf("writing the journal: %w", err)
	}
}
