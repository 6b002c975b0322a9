package runner

import (
	"slices"
	"sync"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/runner/findings"
)

// reports take the findings of the natives that run on one side.
type reports struct {
	*run

	mu   sync.Mutex
	last map[string]*findings.Collection // of the last attempts, by task
}

// newReports returns reports of tasks that have not started.
func (r *run) newReports() *reports {
	return &reports{run: r, last: map[string]*findings.Collection{}}
}

// start returns what takes the findings of a new attempt.
func (r *reports) start(t plan.Task) *findings.Collection {
	c := findings.New(r.masker, r.isFile)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[t.ID] = c
	return c
}

// finish adds to a result the findings of the last attempt.
func (r *reports) finish(t plan.Task, result *plan.Result) {
	r.mu.Lock()
	c := r.last[t.ID]
	delete(r.last, t.ID)
	r.mu.Unlock()
	if c != nil {
		result.Findings, result.FindingsBeyond = c.Findings()
	}
}

// isFile reports whether a path is one of a datafile or a resource of either side.
func (r *run) isFile(path string) bool {
	p := bundle.Path(path)
	return slices.ContainsFunc([]*bundle.Bundle{r.Head, r.Base}, func(b *bundle.Bundle) bool {
		_, isData := b.Datafile(p)
		_, isResource := b.Resource(p)
		return isData || isResource
	})
}

// finish completes the result of a task that ended on head.
func (r *run) finish(t plan.Task, result *plan.Result) {
	r.announced.finish(t, result)
	r.reported.finish(t, result)
}

// withFindings completes the comparison of a failure with its runs on base. A failure is not
// the same on base if a finding fails it that no run there has.
func withFindings(c baseline.Comparison, f *failure) baseline.Comparison {
	if !c.Same {
		return c
	}
	if n := len(f.head.Findings); f.head.FindingsBeyond > 0 && n > 0 && f.head.Findings[n-1].Fails() {
		return baseline.Comparison{Finding: "not comparable with base: more findings fail it than are kept"}
	}
	onBase := map[plan.Finding]bool{}
	for _, b := range f.base {
		for _, found := range b.Result.Findings {
			onBase[identity(found)] = true
		}
	}
	for _, found := range f.head.Findings {
		if found.Fails() && !onBase[identity(found)] {
			return baseline.Comparison{Finding: "fails differently on base: a finding that fails it is missing there"}
		}
	}
	f.head.Findings = slices.Clone(f.head.Findings)
	for i := range f.head.Findings {
		found := &f.head.Findings[i]
		found.Old = found.Old || onBase[identity(*found)]
	}
	slices.SortStableFunc(f.head.Findings, findings.Compare)
	return c
}

// identity returns what makes two findings of both sides the same: all but the pointer, since
// items of lists move, and whether it is known to be old.
func identity(f plan.Finding) plan.Finding {
	f.Pointer, f.Old = "", false
	return f
}
