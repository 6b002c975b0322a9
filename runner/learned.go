package runner

import "github.com/app-sre/prcheck/plan"

// learn makes a secret known that a native reads. From then on it is masked in all output.
func (r *run) learn(secret string) {
	r.masker.Add(secret)
	r.learned.Store(true)
}

// maskLearned masks in all results the secrets that natives read in the run: a task that ended
// before may have told one of them. Without such secrets the results are masked already.
func (r *run) maskLearned(out *plan.Results) {
	if !r.learned.Load() {
		return
	}
	mask := func(texts ...*string) {
		for _, t := range texts {
			*t = r.masker.Text(*t)
		}
	}
	for i := range out.Warnings {
		mask(&out.Warnings[i])
	}
	for i := range out.Results {
		result := &out.Results[i]
		mask(&result.Reason, &result.Tail, &result.Unavailable)
		for j := range result.Before {
			mask(&result.Before[j].Reason)
		}
		if b := result.Baseline; b != nil {
			mask(&b.Finding)
			for j := range b.LeftOut {
				mask(&b.LeftOut[j])
			}
		}
		for j := range result.Findings {
			f := &result.Findings[j]
			mask(&f.Message, &f.File, &f.Pointer)
		}
		if e := result.Effects; e != nil {
			mask(&e.Unknown)
			for j := range e.Items {
				mask(&e.Items[j].Subject)
			}
		}
	}
}
