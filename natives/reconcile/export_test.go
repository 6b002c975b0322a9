package reconcile

// WithRules returns an input whose plan follows other rules about owners and deletions.
func WithRules(in Input, judge func(Owner, Mark, Wish) Verdict, decide func(Gate, Deletions) Refusal) Input {
	in.rules = &rules{judge, decide}
	return in
}
