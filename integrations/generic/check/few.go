package check

import (
	"fmt"

	"github.com/app-sre/prcheck/integrations/generic/threeway"
	"github.com/app-sre/prcheck/integrations/generic/validate"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/reconcile"
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
	last.Code, last.Severity, last.Pointer, last.Path, last.Old = validate.CodeBounds, severity, "/body", "", false
	last.From, last.To, last.hasChange = nil, nil, false
	last.Message = fmt.Sprintf("there are more than %d findings; the rest is not listed", maxFindings-1)
	return append(l.found, last)
}

// told are the places of findings, by their codes.
type told map[toldAt]bool

type toldAt struct {
	code reconcile.Code
	path string
	// isInside says that the finding is at a place inside of the path.
	isInside bool
}

// add remembers a finding.
func (t told) add(f Finding) {
	t[toldAt{f.Code, f.Path, false}] = true
	for i := range len(f.Path) {
		if f.Path[i] == '/' {
			t[toldAt{f.Code, f.Path[:i], true}] = true
		}
	}
}

// has reports whether a violation is told, perhaps at a place inside of it.
func (t told) has(v threeway.Finding) bool {
	code := reconcile.Code(v.Code)
	if isCreateOnly(v) {
		return t[toldAt{code, v.Path, false}] || t[toldAt{CodeReplace, v.Path, false}]
	}
	return t[toldAt{code, v.Path, false}] || t[toldAt{code, v.Path, true}]
}
