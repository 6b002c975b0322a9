package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// The bounds of what is kept of the reports of one attempt.
const (
	maxMessage = 4 << 10  // bytes of a message, before it is cleaned
	maxBytes   = 64 << 10 // of the findings of a result together
)

// A Collection takes the findings of one attempt of a task. Several goroutines may use it at
// once.
type Collection struct {
	masker *mask.Masker
	isFile func(string) bool

	mu          sync.Mutex
	kept        []*report // without duplicates, the most important first
	beyond      int       // reports that are not kept
	beyondFails int       // those of them that fail the task
	ended       bool
}

// A report is a finding as it was reported.
type report struct {
	plan.Finding
	isCut bool // the message was longer than what is kept
	times int
}

// New returns a collection for one attempt. The masker removes secrets. The function reports
// whether a path is one of a datafile or a resource; nil means that every path may be one.
func New(masker *mask.Masker, isFile func(path string) bool) *Collection {
	return &Collection{masker: masker, isFile: isFile}
}

// Add takes a finding.
func (c *Collection) Add(f plan.Finding) {
	r := &report{Finding: f, times: 1}
	r.Message, r.isCut = cut(f.Message)
	if !r.Severity.IsValid() {
		r.Severity = plan.SeverityError
	}
	if !r.Code.IsValid() {
		r.Code = ""
	}
	if !isPlace(r.File) || c.isFile != nil && !c.isFile(r.File) {
		r.File = ""
	}
	if r.File == "" || !isPlace(r.Pointer) {
		r.Pointer = ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.insert(r)
	}
}

// insert keeps a report, or counts it if there are enough that are more important.
func (c *Collection) insert(r *report) {
	i, isKnown := slices.BinarySearchFunc(c.kept, r, compare)
	switch {
	case isKnown:
		c.kept[i].times++
		return
	case i == plan.MaxFindings:
		c.drop(r)
		return
	}
	// of longer texts
	r.Message, r.File, r.Pointer = strings.Clone(r.Message), strings.Clone(r.File), strings.Clone(r.Pointer)
	c.kept = slices.Insert(c.kept, i, r)
	if last := len(c.kept) - 1; last == plan.MaxFindings {
		c.drop(c.kept[last])
		c.kept = c.kept[:last]
	}
}

// drop counts a report that is not kept.
func (c *Collection) drop(r *report) {
	c.beyond += r.times
	if r.Fails() {
		c.beyondFails += r.times
	}
}

// End ends the collection: further reports are ignored.
func (c *Collection) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

// Findings ends the collection. It returns the findings, and how many more there were.
func (c *Collection) Findings() (found []plan.Finding, beyond int) {
	c.End()
	size := 0
	all := c.clean()
	for i, f := range all {
		if size += len(f.Message) + len(f.File) + len(f.Pointer); size > maxBytes {
			return all[:i], c.beyond + len(all) - i
		}
	}
	return all, c.beyond
}

// clean returns what is kept as findings for people.
func (c *Collection) clean() []plan.Finding {
	var out []plan.Finding
	for _, r := range c.kept {
		f := r.Finding
		f.Message = c.cleanMessage(r)
		if c.masker.Text(f.File) != f.File {
			f.File, f.Pointer = "", ""
		}
		if c.masker.Text(f.Pointer) != f.Pointer {
			f.Pointer = ""
		}
		out = append(out, f)
	}
	slices.SortFunc(out, Compare)
	return slices.Compact(out)
}

// cut returns the beginning of a message, and whether there is more of it.
func cut(message string) (string, bool) {
	if len(message) <= maxMessage {
		return message, false
	}
	n := maxMessage
	for n > maxMessage-utf8.UTFMax && !utf8.RuneStart(message[n]) {
		n--
	}
	return message[:n], true
}

// compare orders reports, the most important first.
func compare(a, b *report) int {
	return cmp.Or(Compare(a.Finding, b.Finding), compareBools(a.isCut, b.isCut))
}

// Compare orders findings: first those that the change may have caused, and of them the worst
// first.
func Compare(a, b plan.Finding) int {
	rank := func(f plan.Finding) int { return slices.Index(plan.Severities(), f.Severity) }
	return cmp.Or(compareBools(a.Old, b.Old), cmp.Compare(rank(a), rank(b)),
		cmp.Compare(a.File, b.File), cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message))
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// A Failure says that findings fail a task.
type Failure struct {
	Findings int          // how many findings fail it
	First    plan.Finding // the first of them
	HasFile  bool         // one of them names a file of the data
	inData   bool         // all of them do
}

// Failure ends the collection. It returns nil if no finding fails the task.
func (c *Collection) Failure() *Failure {
	c.End()
	all := c.clean()
	n := 0
	for n < len(all) && all[n].Fails() {
		n++
	}
	if n == 0 {
		return nil
	}
	out := &Failure{Findings: n + c.beyondFails, First: all[0], inData: true}
	for _, f := range all[:n] {
		out.HasFile = out.HasFile || f.File != ""
		out.inData = out.inData && f.File != ""
	}
	return out
}

// Error says how many findings fail the task, and names the first.
func (f *Failure) Error() string {
	text := f.First.Message
	if place := f.First.Where(); place != "" {
		text = place + ": " + text
	}
	if f.First.Code != "" {
		text = string(f.First.Code) + ": " + text
	}
	switch {
	case f.Findings == 1:
		return text
	case f.inData:
		return fmt.Sprintf("%d mistakes in the data, the first: %s", f.Findings, text)
	}
	return fmt.Sprintf("%d findings fail it, the first: %s", f.Findings, text)
}

// cleanMessage returns a message as one short line without secrets and without characters
// that a terminal acts on.
func (c *Collection) cleanMessage(r *report) string {
	stream := c.masker.Stream()
	masked := stream.Feed([]byte(r.Message))
	if !r.isCut { // else the end may be the beginning of a secret
		masked = append(masked, stream.Flush()...)
	}
	text := []rune(c.masker.Text(sanitize.Line(string(masked))))
	if r.isCut || len(text) > plan.MaxFindingMessage {
		text = append(text[:min(len(text), plan.MaxFindingMessage-1)], '…')
	}
	return cmp.Or(strings.TrimSpace(string(text)), "(a finding without a message)")
}

// isPlace reports whether a text can be a path in a bundle, or a JSON pointer, that people are
// shown.
func isPlace(text string) bool {
	isHidden := func(r rune) bool { return !unicode.IsPrint(r) }
	return strings.HasPrefix(text, "/") && len(text) <= plan.MaxFindingPlace && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, isHidden)
}
