package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
)

// header is the first line.
type header struct {
	Version string `json:"version"`
	Plan    string `json:"plan"`  // digest
	Tasks   string `json:"tasks"` // digest of the ids of the tasks that are run of it
}

// maxBytes bounds a journal that is read.
const maxBytes = 256 << 20

// counted is a line that says that all results before it are remembered elsewhere.
type counted struct {
	Counted bool `json:"counted"`
}

// A Journal takes results. Its methods may be called by several goroutines at
// once.
type Journal struct {
	file    *os.File
	counted map[string]int

	mu  sync.Mutex
	err error
}

// Begin begins a journal in a file that [Open] opened. With resume it goes on with
// the one that is there, and returns the results in it, by their tasks; a file
// that is empty has none. It is an error when that one is of another plan or part
// of it, or the file is no journal.
func Begin(file *os.File, p *plan.Plan, resume bool) (*Journal, map[string]plan.Result, error) {
	j := &Journal{file: file}
	want := headerOf(p)
	raw, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the journal: %w", err)
	}
	whole := raw[:bytes.LastIndexByte(raw, '\n')+1] // the rest was torn off
	found, empty, err := check(raw, whole)
	switch {
	case err == nil && resume && !empty:
		err = found.match(want)
	case err == nil:
		whole = nil
	}
	if err == nil && len(raw) > maxBytes {
		err = errors.New("it is too large")
	}
	if err != nil {
		return nil, nil, cli.Invalid(fmt.Errorf("the journal %q cannot be used: %w", file.Name(), err))
	}
	if err := file.Truncate(int64(len(whole))); err != nil {
		return nil, nil, fmt.Errorf("beginning the journal: %w", err)
	}
	if len(whole) > 0 {
		found := map[string]plan.Result{}
		j.counted = results(whole, p, found)
		return j, found, nil
	}
	j.line(want)
	return j, nil, j.err
}

func headerOf(p *plan.Plan) header {
	sum := sha256.New()
	for _, t := range p.Tasks {
		_, _ = fmt.Fprintf(sum, "%q\n", t.ID)
	}
	return header{plan.Version, p.Digest, "sha256:" + hex.EncodeToString(sum.Sum(nil))}
}

// check reads the first line. A journal that was torn off there is as good as
// empty; what is no journal is somebody's, and is left alone.
func check(raw, whole []byte) (found header, empty bool, err error) {
	if len(whole) == 0 {
		begin, _ := json.Marshal(header{Version: plan.Version})
		begin = begin[:bytes.IndexByte(begin, ',')]
		n := min(len(raw), len(begin))
		if !bytes.Equal(raw[:n], begin[:n]) {
			return found, false, errNone
		}
		return found, true, nil
	}
	first, _, _ := bytes.Cut(whole, []byte("\n"))
	if json.Unmarshal(first, &found) != nil || found.Plan == "" || found.Tasks == "" {
		return found, false, errNone
	}
	return found, false, nil
}

var errNone = errors.New("it is not one, and is left as it is: name the results otherwise")

// match tells why a journal is not that of a run.
func (h header) match(want header) error {
	const remedy = "without --resume it begins anew"
	switch {
	case h.Version != want.Version:
		return fmt.Errorf("its version is %q, not %q: %s", h.Version, want.Version, remedy)
	case h.Plan != want.Plan:
		return fmt.Errorf("it is of the plan %s, not of %s: %s", h.Plan, want.Plan, remedy)
	case h.Tasks != want.Tasks:
		return fmt.Errorf("it is of another part of the plan: %s", remedy)
	}
	return nil
}

// results reads the lines after the first, and returns how many attempts of tasks
// were counted.
func results(whole []byte, p *plan.Plan, out map[string]plan.Result) map[string]int {
	known := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		known[t.ID] = true
	}
	attempts := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(whole))
	lines.Buffer(nil, len(whole)+1)
	for lines.Scan() {
		var line struct {
			plan.Result
			counted
		}
		switch r := &line.Result; {
		case json.Unmarshal(lines.Bytes(), &line) != nil:
		case line.Counted:
			for id, r := range out {
				attempts[id] = r.Attempts
			}
		case known[r.Task] && final(*r) && r.Check() == nil:
			out[r.Task] = *r
		}
	}
	return attempts
}

// final tells whether a task ran to an end. Whether it is broken on base is found
// out later, and always anew.
func final(r plan.Result) bool {
	return r.Status == plan.Passed || r.Status == plan.Failed && !r.OnBase() || r.Status == plan.TimedOut
}

// Add writes a result, if it is final.
func (j *Journal) Add(r plan.Result) {
	if final(r) {
		j.line(r)
	}
}

// Count notes that all results so far are remembered elsewhere.
func (j *Journal) Count() { j.line(counted{true}) }

// Counted returns how many attempts of tasks were remembered elsewhere before this
// run, by their ids.
func (j *Journal) Counted() map[string]int { return j.counted }

// line writes one line, unless an earlier one could not be written.
func (j *Journal) line(of any) {
	raw, err := json.Marshal(of)
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

// Trouble returns why the journal is not complete, nil when it is.
func (j *Journal) Trouble() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}
