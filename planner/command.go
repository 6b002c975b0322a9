package planner

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/internal/shellwords"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
)

// imageTag is what may stand behind the colon of an image's name.
var imageTag = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// started is how the task is started: the settings with what its definition
// adds to them. An image of its own goes before that of pr_check.
func (m *maker) started(o schemafilter.Outcome, exec integration.Exec, image string, t *plan.Task) integration.Exec {
	c := o.Use.Check
	if c == nil {
		return exec.ForConditions(nil, "")
	}
	conditions := c.Conditions(m.mayLeaveOut(o))
	for _, c := range conditions {
		if _, ok := exec.When[c]; ok {
			t.When = append(t.When, string(c))
		}
	}
	switch {
	case image != "" && !imageTag.MatchString(image):
		block(t, "the imageRef %q of its shard in managed is not the tag of an image", image)
		return exec.ForConditions(conditions, "")
	case image != "":
		return exec.ForConditions(conditions, image)
	case c.ImageRef == "":
	case !imageTag.MatchString(c.ImageRef):
		block(t, "its pr_check.imageRef %q is not the tag of an image", c.ImageRef)
		return exec.ForConditions(conditions, "")
	case m.fromHead(o):
		block(t, "only head defines it, and it names an image of its own, which nobody has trusted yet")
		return exec.ForConditions(conditions, "")
	}
	return exec.ForConditions(conditions, c.ImageRef)
}

// mayLeaveOut tells whether a task may end early, or leave shards out, when the
// integration itself sees no difference between base and head. It sees its
// desired state alone, so it may only when nothing else is a reason to run: not
// a definition that changed, nor rules that head edits, nor a paths rule, nor a doubt, nor other types and
// schemas than base has. Nor may it when the planner has compared the desired
// states itself and found that they differ: the integration could only be wrong.
func (m *maker) mayLeaveOut(o schemafilter.Outcome) bool {
	e := o.Decision.Evidence
	return o.Decided && !m.fromHead(o) && len(e.Fields) == 0 && len(e.Edited) == 0 && e.Rule == "" && len(e.Doubts) == 0 &&
		len(m.diff.GraphQL) == 0 && len(m.diff.Schemas) == 0
}

// early names the first task of an integration that is told to leave out what
// it may not, "" when none is.
func (m *maker) early(o schemafilter.Outcome, p *plan.Plan) string {
	if m.mayLeaveOut(o) {
		return ""
	}
	for _, t := range p.Tasks {
		if t.Integration == o.Name && (slices.Contains(t.When, string(integration.EarlyExit)) || slices.Contains(t.When, string(integration.AffectedOnly))) {
			return t.ID
		}
	}
	return ""
}

// fromHead tells whether the definition that is used comes from head, because
// base has none with a pr_check.
func (m *maker) fromHead(o schemafilter.Outcome) bool {
	return !slices.ContainsFunc(m.base, func(d integration.Definition) bool {
		return d.Name == o.Name && d.Check != nil
	})
}

// command fills in the argument vector.
func (m *maker) command(o schemafilter.Outcome, it integration.Integration, t *plan.Task) {
	var cmd []string
	if o.Use.Check != nil {
		cmd = m.words(o, it.Exec, t)
	}
	t.Argv = append(t.Argv, it.Exec.Expand(o.Name, cmd, m.shardArg(it), t.Shard)...)
	if len(t.Argv) > 0 && t.Argv[0] != "" {
		return
	}
	t.Argv = []string{}
	if len(it.Exec.Argv) == 0 {
		block(t, "%s", noExec)
		return
	}
	block(t, "its pr_check.cmd names no program")
}

// shardArg is the option that hands a shard to an integration, "" when none does.
func (m *maker) shardArg(it integration.Integration) string {
	if it.Shards == nil {
		return ""
	}
	strategy, _ := m.strategy(it.Name, it.Shards.Strategy) // without one there is no shard
	return cmp.Or(it.Shards.Arg, sharding.KeyOption(strategy))
}

// words splits pr_check.cmd. Variables become placeholders that the runner
// fills in; whatever else a shell would act on blocks the task.
func (m *maker) words(o schemafilter.Outcome, exec integration.Exec, t *plan.Task) []string {
	split, err := shellwords.Split(o.Use.Check.Cmd)
	if err != nil {
		block(t, "its pr_check.cmd is not a plain list of words: %v; no shell runs it, so quote what is meant as it is", err)
		return nil
	}
	var out []string
	for _, w := range split {
		var word string
		for _, p := range w {
			value, ok := exec.Variables[p.Variable]
			switch {
			case p.Variable == "":
				word += integration.EscapePlaceholders(p.Text)
			case ok:
				word += value
			default:
				block(t, "its pr_check.cmd uses $%s, which exec.variables of prcheck.yaml does not list", p.Variable)
				return nil
			}
		}
		out = append(out, word)
	}
	if m.fromHead(o) && len(out) > 0 && !names.IsPlain(out[0]) {
		block(t, "only head defines it, and its pr_check.cmd begins with %q, which is not the name of a command", out[0])
		return nil
	}
	return out
}

// block makes a task one that cannot be started; the first reason stays.
func block(t *plan.Task, format string, args ...any) {
	if t.Blocked == "" {
		t.Blocked = fmt.Sprintf(format, args...)
	}
}
