package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/plan"
)

// maxBytes is the size up to which a journal is read.
const maxBytes = 256 << 20

// A header is the first line of a journal.
type header struct {
	Version string `json:"version"`
	Plan    string `json:"plan"`  // digest of the plan
	Tasks   string `json:"tasks"` // digest of the ids of the tasks in this run
}

// A rememberedMark is a line that says that the state remembers all results before it.
type rememberedMark struct {
	Counted bool `json:"counted"`
}

// headerOf returns the header for a run of a plan's tasks.
func headerOf(p *plan.Plan) header {
	sum := sha256.New()
	for _, t := range p.Tasks {
		_, _ = fmt.Fprintf(sum, "%q\n", t.ID)
	}
	return header{plan.Version, p.Digest, "sha256:" + hex.EncodeToString(sum.Sum(nil))}
}

var errNotJournal = errors.New("the file is not a journal, and was not changed; choose another --out or --logs")

// readHeader reads the first line. A journal whose first line is cut off counts as
// empty. A file that is not a journal belongs to somebody else and is an error.
func readHeader(raw, lines []byte) (found header, isEmpty bool, err error) {
	if len(lines) == 0 {
		begin, _ := json.Marshal(header{Version: plan.Version})
		begin = begin[:bytes.IndexByte(begin, ',')]
		n := min(len(raw), len(begin))
		if !bytes.Equal(raw[:n], begin[:n]) {
			return found, false, errNotJournal
		}
		return found, true, nil
	}
	first, _, _ := bytes.Cut(lines, []byte("\n"))
	if json.Unmarshal(first, &found) != nil || found.Plan == "" || found.Tasks == "" {
		return found, false, errNotJournal
	}
	return found, false, nil
}

// mismatch returns an error that says why a journal with this header is not the one of
// a run that would write the wanted header, nil if it is.
func (h header) mismatch(want header) error {
	const remedy = "run without --resume to begin a new one"
	switch {
	case h.Version != want.Version:
		return fmt.Errorf("its version is %q, not %q: %s", h.Version, want.Version, remedy)
	case h.Plan != want.Plan:
		return fmt.Errorf("it belongs to the plan %s, not to %s: %s", h.Plan, want.Plan, remedy)
	case h.Tasks != want.Tasks:
		return fmt.Errorf("it belongs to another part of the plan: %s", remedy)
	}
	return nil
}

// completeLines returns the journal without a last line that is cut off.
func completeLines(raw []byte) []byte { return raw[:bytes.LastIndexByte(raw, '\n')+1] }

// readResults reads the lines after the header. It returns the final results by their
// tasks, and for each task how many attempts the state remembers.
func readResults(lines []byte, p *plan.Plan) (results map[string]plan.Result, remembered map[string]int) {
	isKnown := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		isKnown[t.ID] = true
	}
	results, remembered = map[string]plan.Result{}, map[string]int{}
	scanner := bufio.NewScanner(bytes.NewReader(lines))
	scanner.Buffer(nil, len(lines)+1)
	for scanner.Scan() {
		var line struct {
			plan.Result
			rememberedMark
		}
		switch r := &line.Result; {
		case json.Unmarshal(scanner.Bytes(), &line) != nil:
		case line.Counted:
			for id, r := range results {
				remembered[id] = r.Attempts
			}
		case isKnown[r.Task] && isFinal(*r) && r.Check() == nil:
			results[r.Task] = *r
		}
	}
	return results, remembered
}

// isFinal reports whether a task ran to its end. A failure that is the same on base is
// not final: each run compares failures with base anew.
func isFinal(r plan.Result) bool {
	return r.Status == plan.Passed || r.Status == plan.Failed && !r.OnBase() || r.Status == plan.TimedOut
}
