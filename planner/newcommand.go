package planner

import (
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
)

// hasNewCommand tells whether head gives an integration another command than base, which base's
// command runs beside.
func hasNewCommand(o schemafilter.Outcome) bool {
	return o.Base != nil && o.Head != nil && o.Base.Check != nil && o.Head.Check != nil && !o.Head.Check.Disabled &&
		slices.Contains(o.Conclusion.Evidence.Fields, "pr_check") && o.Head.Check.Cmd != o.Base.Check.Cmd
}

// newCommand returns the task that runs the command which head gives an integration, if the
// settings trust such commands. It runs once, for the whole integration, and what it says counts.
// Its words are held to the same rules as those of an integration that only head defines.
func (b *taskBuilder) newCommand(o schemafilter.Outcome) []unit {
	if !b.settings.TrustNewCommands() || b.isNative(o.Name) || !hasNewCommand(o) {
		return nil
	}
	o.Use, o.Base = o.Head, nil
	t := b.build(o, taskName(o.Name)+"+head", part{})
	t.NewCommand = true
	return []unit{{task: t}}
}

// NewCommand returns the task of the command that head gives an integration; ok is false if there
// is none that must run.
func (s starter) NewCommand(name string) (t plan.Task, ok bool) {
	units := s.tasks.newCommand(s.outcomes[name])
	if len(units) == 0 {
		return plan.Task{}, false
	}
	return units[0].task, true
}
