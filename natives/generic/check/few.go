package check

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/plan"
)

// maxFindings is how many findings of one kind a pair has.
const maxFindings = 200

// A few gathers the first findings of a comparison, and one that fails if there is any.
type few struct {
	found           []Finding
	isLong          bool // there are findings that are not listed
	hasFail, isSure bool // one fails; one fails whatever is thought of inferred classes
}

// add adds a finding, and reports whether another one may change the verdict.
func (l *few) add(f Finding) (goOn bool) {
	fails := f.Fails()
	isSure := fails && f.Code != CodeCreateOnlyInferred
	switch {
	case len(l.found) < maxFindings-1:
		l.found = append(l.found, f)
	case fails && !l.hasFail, isSure && !l.isSure:
		l.found[len(l.found)-1], l.isLong = f, true
	default:
		l.isLong = true
	}
	l.hasFail, l.isSure = l.hasFail || fails, l.isSure || isSure
	return !l.isLong || !l.isSure
}

// all returns the findings in order. The last one says if there are more.
func (l *few) all(severity plan.Severity) []Finding {
	if !l.isLong {
		return l.found
	}
	last := l.found[len(l.found)-1]
	last.Code, last.Severity, last.Pointer, last.Property, last.Old = validate.CodeBounds, severity, "/body", "", false
	last.From, last.To, last.hasChange = nil, nil, false
	last.Message = fmt.Sprintf("there are more than %d findings; the rest is not listed", maxFindings-1)
	return append(l.found, last)
}

// A told remembers the places of findings by the hash of their code and path: each place, and the
// places around it.
type told struct {
	seed   maphash.Seed
	at     map[uint64]bool
	around map[uint64]bool
}

func newTold() told { return told{maphash.MakeSeed(), map[uint64]bool{}, map[uint64]bool{}} }

// add remembers a finding.
func (t told) add(code plan.FindingCode, path string) {
	h := t.begin(code)
	for {
		i := strings.IndexByte(path, '/')
		if i < 0 {
			_, _ = h.WriteString(path) // a hash takes everything
			t.at[h.Sum64()] = true
			return
		}
		_, _ = h.WriteString(path[:i])
		t.around[h.Sum64()] = true
		_ = h.WriteByte('/')
		path = path[i+1:]
	}
}

func (t told) begin(code plan.FindingCode) *maphash.Hash {
	h := new(maphash.Hash)
	h.SetSeed(t.seed)
	_, _ = h.WriteString(string(code) + " ")
	return h
}

// hasAt reports whether there is a finding at a place itself.
func (t told) hasAt(code plan.FindingCode, path string) bool {
	h := t.begin(code)
	_, _ = h.WriteString(path)
	return t.at[h.Sum64()]
}

// has reports whether a violation is told, perhaps at a place inside of it.
func (t told) has(v threeway.Objection) bool {
	code := plan.FindingCode(v.Code)
	if t.hasAt(code, v.Path) {
		return true
	}
	if isCreateOnly(v) {
		return t.hasAt(CodeReplace, v.Path)
	}
	h := t.begin(code)
	_, _ = h.WriteString(v.Path)
	return t.around[h.Sum64()]
}
