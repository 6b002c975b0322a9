package queue

import "time"

// A Sameness says whether something is as it was when a task passed. The zero value is that nobody knows.
type Sameness int

// The kinds of sameness.
const (
	NotKnown Sameness = iota
	Other
	SameName // the name is the same, and what it names may be another thing by now
	Same
)

// A Result is what is remembered of a task that ended, and how the task compares with it now.
type Result struct {
	HasPassed    bool
	OnBase       bool // it failed, and on base in the same way
	Attempt      int  // 1 is the first
	Age          time.Duration
	Lasts        time.Duration // for how long a result counts
	IsTrusted    bool          // signed, or from a state that only those write who may merge
	Command      Sameness
	Inputs       Sameness
	Image        Sameness
	FailedSince  bool // the task failed later with the same inputs
	IsEdited     bool // it ran because head edits its rules
	LacksEffects bool // effects are looked at, and were not remembered
	IsAlways     bool // the task always runs
	IsNative     bool
	IsFlaky      bool // by its history
}

// A Verdict says whether a result counts for a merge.
type Verdict string

// What Verdict says. Only the first two count, and only the first one lets anything merge.
const (
	Counts         Verdict = "counts"
	CountsByTag    Verdict = "image_by_tag"
	Failed         Verdict = "failed"
	FailedOnBase   Verdict = "failed_on_base"
	SecondAttempt  Verdict = "second_attempt"
	FailedSince    Verdict = "failed_since"
	Flaky          Verdict = "flaky"
	TooOld         Verdict = "too_old"
	FromFuture     Verdict = "from_future"
	NotTrusted     Verdict = "not_trusted"
	UnknownInputs  Verdict = "unknown_inputs"
	OtherInputs    Verdict = "other_inputs"
	OtherCommand   Verdict = "other_command"
	OtherImage     Verdict = "other_image"
	Edited         Verdict = "edited"
	EffectsMissing Verdict = "effects_missing"
	AlwaysRuns     Verdict = "always_run"
	IsNative       Verdict = "native"
	NoResult       Verdict = "no_result"
)

// IsPass reports whether the result counts.
func (c Verdict) IsPass() bool { return c == Counts || c == CountsByTag }

// Verdict says whether a result counts for a merge, and if not why. It counts only if nothing speaks against it.
func (r Result) Verdict() Verdict {
	for _, doubt := range []struct {
		is  bool
		why Verdict
	}{
		{r.IsAlways, AlwaysRuns},
		{r.IsNative, IsNative},
		{!r.IsTrusted, NotTrusted},
		{!r.HasPassed && r.OnBase, FailedOnBase},
		{!r.HasPassed, Failed},
		{r.Attempt != 1, SecondAttempt},
		{r.Command == NotKnown || r.Inputs == NotKnown || r.Image == NotKnown, UnknownInputs},
		{r.Command != Same, OtherCommand},
		{r.Inputs != Same, OtherInputs},
		{r.Image == Other, OtherImage},
		{r.FailedSince, FailedSince},
		{r.IsFlaky, Flaky},
		{r.IsEdited, Edited},
		{r.LacksEffects, EffectsMissing},
		{r.Age < 0, FromFuture},
		{r.Age > r.Lasts, TooOld},
		{r.Image == SameName, CountsByTag},
	} {
		if doubt.is {
			return doubt.why
		}
	}
	return Counts
}
