package planner

import (
	"cmp"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/internal/shellwords"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// imageTag matches the tag of an image: the part of its name after the colon.
var imageTag = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// A start is how a task is started: the settings, with the conditions and the image
// that its definition adds to them.
type start struct {
	exec       settings.Exec
	conditions []string    // the conditions of its definition that the settings have a use for
	blocked    plan.Reason // zero when the task can be started
}

// start returns how a task of an integration is started. image is that of its shard,
// which goes before that of pr_check; "" when the shard has none.
func (b *taskBuilder) start(o schemafilter.Outcome, image string) start {
	exec := b.settings.For(o.Name).Exec
	check := o.Use.Check
	if check == nil {
		return start{exec: exec.ForConditions(nil, "")}
	}
	conditions := check.Conditions(b.mayLeaveOut(o))
	s := start{blocked: b.untrustedImage(o, check, image)}
	for _, c := range conditions {
		if _, ok := exec.When[c]; ok {
			s.conditions = append(s.conditions, string(c))
		}
	}
	if image = cmp.Or(image, check.ImageRef); s.blocked.Code != "" {
		image = ""
	}
	s.exec = exec.ForConditions(conditions, image)
	return s
}

// untrustedImage returns why a task cannot be started from its image; zero when it
// can.
func (b *taskBuilder) untrustedImage(o schemafilter.Outcome, check *integration.Check, image string) plan.Reason {
	switch {
	case image != "" && !imageTag.MatchString(image):
		return plan.Reason{Code: plan.CodeInvalidShardImage, Names: []string{image}}
	case image != "" || check.ImageRef == "":
		return plan.Reason{}
	case !imageTag.MatchString(check.ImageRef):
		return plan.Reason{Code: plan.CodeInvalidImage, Names: []string{check.ImageRef}}
	case o.FromHead():
		return plan.Reason{Code: plan.CodeUntrustedImage}
	}
	return plan.Reason{}
}

// mayLeaveOut tells whether a task may end early, or leave shards out, when the
// integration itself sees no difference between base and head. The integration
// sees its desired state alone. So it may leave something out only when nothing
// else is a reason to run: a changed definition, edited rules, a paths rule, a
// doubt, or changed types and schemas. Nor may it when the planner has compared the
// desired states and found a difference: the integration could only be wrong.
func (b *taskBuilder) mayLeaveOut(o schemafilter.Outcome) bool {
	e := o.Conclusion.Evidence
	return o.Decided && !o.FromHead() && len(e.Fields) == 0 && len(e.Edited) == 0 && e.Rule == "" && len(e.Doubts) == 0 &&
		!b.typesChanged
}

// argv returns the argument vector of a task. If there is none, blocked says why.
func (b *taskBuilder) argv(o schemafilter.Outcome, it settings.Integration,
	shard string) (argv []string, blocked plan.Reason) {
	var command []string
	if o.Use.Check != nil {
		command, blocked = b.commandWords(o, it.Exec)
	}
	argv = append([]string{}, it.Exec.Expand(o.Name, command, shardOption(o, it), shard)...)
	switch {
	case len(argv) > 0 && argv[0] != "":
		return argv, blocked
	case len(it.Exec.Argv) == 0:
		return []string{}, firstReason(blocked, plan.Reason{Code: plan.CodeNoExec})
	}
	return []string{}, firstReason(blocked, plan.Reason{Code: plan.CodeNoProgram})
}

// shardOption returns the command line option that hands a shard to an integration;
// "" when there is none.
func shardOption(o schemafilter.Outcome, it settings.Integration) string {
	if it.Shards == nil {
		return ""
	}
	strategy, _ := strategyOf(o, it.Shards.Strategy) // without a strategy there is no shard
	return cmp.Or(it.Shards.Arg, sharding.KeyOption(strategy))
}

// commandWords splits pr_check.cmd into words. Variables become placeholders that
// the runner fills in. Anything else that a shell would act on blocks the task.
func (b *taskBuilder) commandWords(o schemafilter.Outcome, exec settings.Exec) (words []string, blocked plan.Reason) {
	split, err := shellwords.Split(o.Use.Check.Cmd)
	if err != nil {
		return nil, plan.Reason{Code: plan.CodeNotWords, Text: err.Error()}
	}
	for _, w := range split {
		var word string
		for _, p := range w {
			value, ok := exec.Variables[p.Variable]
			switch {
			case p.Variable == "":
				word += settings.EscapePlaceholders(p.Text)
			case ok:
				word += value
			default:
				return nil, plan.Reason{Code: plan.CodeUnlistedVariable, Names: []string{p.Variable}}
			}
		}
		words = append(words, word)
	}
	if o.FromHead() && len(words) > 0 && !names.IsPlain(words[0]) {
		return nil, plan.Reason{Code: plan.CodeUnsafeCommand, Names: words[:1]}
	}
	return words, plan.Reason{}
}
