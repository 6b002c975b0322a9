package planner

import (
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
)

// isBelieved tells whether a skip rests on the word of the definition alone: that the
// integration depends on no other schemas than those that it may read. A run of the same
// command that passed has shown it, and strict settings make sure of it.
func (l *ladder) isBelieved(o schemafilter.Outcome, c plan.Conclusion) bool {
	if l.isUnread(o.Name, c) {
		return true
	}
	if c.Action != plan.Skip || c.Rung != plan.RungSchema || l.hasState(o.Name) || l.Settings.For(o.Name).Strict {
		return false
	}
	switch c.Reason.Code {
	case plan.CodeNoAllowedFile, plan.CodeNoSchemas, plan.CodeAllIgnored:
	case plan.CodeOnlyMetadata:
		if len(l.diff.Backrefs) == 0 {
			return false
		}
	default:
		return false // both bundles say the same to everybody
	}
	return l.Dependences == nil || !l.hasPassed(o)
}

// isUnread tells whether a skip rests on the belief that a program which nobody has recorded yet
// reads none of the files that changed.
func (l *ladder) isUnread(name string, c plan.Conclusion) bool {
	return l.Edits.Unread != nil && c.Action == plan.Skip && c.Rung != plan.RungDefinition &&
		c.Reason.Code != plan.CodeSameAnswers && c.Reason.Code != plan.CodeAllShardsProven && l.Edits.Unread(name)
}

// hasPassed tells whether a run of the integration as a whole, or one of each of its
// shards, passed with the command that it has now.
func (l *ladder) hasPassed(o schemafilter.Outcome) bool {
	passed := func(p part) bool {
		return l.Dependences.Passed(o.Name, l.tasks.build(o, taskName(o.Name), p).Command)
	}
	if passed(part{}) {
		return true
	}
	shards := l.Settings.For(o.Name).Shards
	if shards == nil {
		return false
	}
	parts := l.divider.byStrategy(o, shards.Strategy).parts
	for _, p := range parts {
		if !passed(p) {
			return false
		}
	}
	return len(parts) > 0
}
