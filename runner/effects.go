package runner

import (
	"slices"
	"sync"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/effects"
)

// announcements find the effects of the tasks that run on one side.
type announcements struct {
	*run

	causes func() *effects.Causes // of the change

	mu      sync.Mutex
	finders map[string]*effects.Finder // of the last attempts, by task
}

// newAnnouncements returns announcements of tasks that have not started.
func (r *run) newAnnouncements() *announcements {
	causes := sync.OnceValue(func() *effects.Causes { return effects.NewCauses(bundle.Compare(r.Base, r.Head)) })
	return &announcements{run: r, causes: causes, finders: map[string]*effects.Finder{}}
}

// findsEffects reports whether effects are looked for in what a task says.
func (r *run) findsEffects(t plan.Task) bool {
	return t.Native || r.Settings.For(t.Integration).FindsEffects()
}

// start returns the finder for a new attempt of a task, nil if nobody looks for effects.
func (a *announcements) start(t plan.Task) *effects.Finder {
	if !a.findsEffects(t) {
		return nil
	}
	finder := effects.NewFinder(a.Settings.For(t.Integration).Effects, a.masker)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finders[t.ID] = finder
	return finder
}

// finish adds to a result the effects that the last attempt announced. The effects of a task
// that did not pass are unknown: it may have ended before it announced everything.
func (a *announcements) finish(t plan.Task, result *plan.Result) {
	a.mu.Lock()
	finder := a.finders[t.ID]
	delete(a.finders, t.ID)
	a.mu.Unlock()
	switch {
	case finder != nil && result.OK():
		result.Effects = a.complete(t, finder.Effects())
	case a.findsEffects(t):
		result.Effects = effects.Unknown(whyUnknown(result.Status))
	}
}

// complete adds to the effects of a task what caused them, and how they were compared with those on base. A native
// compares by itself, if it says of each effect since when it is.
func (a *announcements) complete(t plan.Task, e *plan.Effects) *plan.Effects {
	if e.Unknown != "" {
		return e
	}
	hasCause := func(item plan.Effect) bool { return len(item.Cause) > 0 }
	if t.Native || slices.ContainsFunc(e.Items, hasCause) {
		a.mu.Lock()
		a.causes().Explain(e)
		a.mu.Unlock()
	}
	isOpen := func(item plan.Effect) bool { return item.Since == "" }
	if t.Native && len(e.Items) > 0 && len(e.Beyond) == 0 && !slices.ContainsFunc(e.Items, isOpen) {
		e.Compared, e.Comparison = true, plan.Comparison{How: plan.ComparedByData}
		return e
	}
	e.Comparison = plan.Comparison{How: plan.ComparedWithNone, Why: "the settings do not ask for it (effects.compare: base)"}
	return e
}

// whyUnknown says why nobody knows the effects of a task that did not pass.
func whyUnknown(status plan.Status) string {
	switch status {
	case plan.TimedOut:
		return "the task timed out"
	case plan.Canceled:
		return "the task was canceled"
	case plan.NotRun:
		return "the task was not run"
	case plan.Passed:
		return "the task passed before effects were looked for"
	case plan.Failed:
	}
	return "the task failed"
}

// forgetEffectsOfFailures makes the effects unknown of tasks that passed, and whose results
// were turned into failures afterwards.
func forgetEffectsOfFailures(results []plan.Result) {
	for i := range results {
		if r := &results[i]; !r.OK() && r.Effects != nil && r.Effects.Unknown == "" {
			r.Effects = effects.Unknown(whyUnknown(r.Status))
		}
	}
}
