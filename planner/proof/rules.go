package proof

import (
	"reflect"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state/dependence"
)

// A need is what must run of an integration.
type need struct {
	action    plan.Action // plan.Skip: nothing
	keys      []string    // the shards, for plan.Shards
	rung      plan.Rung   // that decided
	reason    plan.Reason
	endsEarly bool // its tasks may end early, since its own comparison sees all that changed
	traced    bool // traces may show that it need not run
	word      bool // the skip rests on the word of the definition about its schemas
	open      bool // the desired states decide
}

func skip(rung plan.Rung, code plan.Code) need {
	return need{action: plan.Skip, rung: rung, reason: plan.Reason{Code: code}}
}

func run(rung plan.Rung, code plan.Code, names ...string) need {
	return need{action: plan.Run, rung: rung, reason: plan.Reason{Code: code, Names: names}}
}

// byRules asks the first two rungs: what do the definitions, the settings and the changed
// files say?
func (c *prover) byRules(i *subject) need {
	if c.Base.SHA256() == c.Head.SHA256() && len(i.edits) == 0 {
		return skip(plan.RungSchema, plan.CodeSameBundle)
	}
	const rung = plan.RungDefinition
	switch {
	case i.head == nil:
		return skip(rung, plan.CodeRemoved)
	case i.base == nil && i.head.check == nil:
		return skip(rung, plan.CodeNewWithoutCheck)
	case i.base == nil && i.head.isOff():
		return skip(rung, plan.CodeNewDisabled)
	case i.base == nil:
		return run(rung, plan.CodeNewDefinition)
	case i.base.check == nil && i.head.check == nil:
		return skip(rung, plan.CodeNoCheck)
	case i.base.isOff() && i.head.isOff():
		return skip(rung, plan.CodeDisabled)
	case i.base.check == nil:
		return run(rung, plan.CodeNewCheck)
	}
	if parts := differingParts(i.base, i.head); len(parts) > 0 {
		return run(rung, plan.CodeDefinitionChanged, parts...)
	}
	if len(i.edits) > 0 {
		n := run(rung, plan.CodeRulesEdited, i.edits...)
		n.traced = i.state == nil && c.editsOnlyFiles(i) && !i.base.says("always_run") && c.ruled(i) == ""
		return n
	}
	if i.base.says("always_run") {
		n := run(rung, plan.CodeAlwaysRun)
		n.endsEarly = !c.hasDoubt(i)
		return n
	}
	return c.bySchema(i)
}

// editsOnlyFiles tells whether head edits nothing of what an integration is planned by, but for
// files that its command may use.
func (c *prover) editsOnlyFiles(i *subject) bool {
	return len(i.edits) == 0 || c.OnlyFiles != nil && c.OnlyFiles(i.name, i.edits)
}

// differingParts returns the parts of a definition that differ, of those that matter.
func differingParts(base, head *definition) []string {
	var out []string
	for _, part := range []string{"pr_check", "schemas", "managed"} {
		old, was := base.file[part]
		now, is := head.file[part]
		if was != is || !reflect.DeepEqual(old, now) {
			out = append(out, part)
		}
	}
	return out
}

// bySchema asks who may read what changed.
func (c *prover) bySchema(i *subject) need {
	const rung = plan.RungSchema
	selected := c.changed.selected(i.use)
	var n need
	switch reached, resources := c.reached(i), c.readable(i); {
	case c.ruled(i) != "":
		n = run(rung, plan.CodePathsRule)
		n.reason.Text = c.ruled(i)
		return n
	case i.state != nil:
		n = c.unconcerned(i)
		n.open = true
		return n
	case len(selected) > 0:
		n = run(rung, plan.CodeAllowedFileChanged, selected...)
		n.endsEarly = !c.hasDoubt(i)
	case len(reached) > 0:
		n = run(rung, plan.CodeDependsOnFile, reached...)
	case len(c.changed.types) > 0:
		n = run(rung, plan.CodeTypesChanged, c.changed.types...)
	case len(resources) > 0:
		n = run(rung, plan.CodeResourceChanged, resources...)
	case i.use.says("no_validate_schemas") && len(c.changed.files) > 0:
		n = run(rung, plan.CodeNotEnforced)
	default:
		n = c.unconcerned(i)
		n.word = len(c.changed.files)+len(c.changed.backrefs) > 0
		return n
	}
	n.traced = true
	return n
}

// hasDoubt tells whether something changed that the integration's own comparison of its
// desired states may not see.
func (c *prover) hasDoubt(i *subject) bool {
	return c.ruled(i) != "" || len(c.reached(i))+len(c.readable(i))+len(c.changed.types) > 0
}

// unconcerned returns the skip of an integration that may read nothing that changed.
func (c *prover) unconcerned(i *subject) need {
	code := plan.CodeNoAllowedFile
	switch {
	case len(c.changed.files) == 0:
		code = plan.CodeOnlyMetadata
	case !slices.ContainsFunc(c.changed.files, func(f file) bool { return !f.resource || !isIgnored(c.Settings, f) }):
		code = plan.CodeAllIgnored
	case len(i.use.schemas) == 0:
		code = plan.CodeNoSchemas
	}
	return skip(plan.RungSchema, code)
}

// reached returns the changed files on which its answers depend, as runs have shown.
func (c *prover) reached(i *subject) []string {
	var known dependence.Beyond
	if c.Dependences != nil {
		known = c.Dependences.Beyond(i.name)
	}
	return c.changed.reached(known)
}

// readable returns the changed resources that it may ask for.
func (c *prover) readable(i *subject) []string {
	return c.changed.readable(c.Settings, i.settings.Resources)
}

// ruled returns a pattern of a paths rule that names it and covers a changed file, or "".
func (c *prover) ruled(i *subject) string {
	for _, f := range c.changed.files {
		for _, rule := range c.Settings.Rules {
			if glob, covers := rule.Match(f.repo()); covers && rule.Runs(i.name) {
				return glob.Pattern + " covers " + f.repo()
			}
		}
	}
	return ""
}

// isBelieved tells whether nothing but the word of the definition stands behind a skip: no
// strict setting, and no run of the same command that passed. It is also believed that a program
// which nobody has recorded reads none of the files that changed.
func (c *prover) isBelieved(i *subject, n need) bool {
	return c.isUnread(i, n) || c.isByWord(i, n)
}

// isUnread tells whether a skip rests on the belief that a program which nobody has recorded reads
// none of the files that changed.
func (c *prover) isUnread(i *subject, n need) bool {
	return c.Unread != nil && c.Unread(i.name) && n.rung != plan.RungDefinition && n.reason.Code != plan.CodeSameAnswers
}

// isByWord tells whether a skip rests on the word of the definition about its schemas.
func (c *prover) isByWord(i *subject, n need) bool {
	if !n.word || i.settings.Strict {
		return false
	}
	if c.Dependences == nil {
		return true
	}
	passed := func(t plan.Task) bool { return c.Dependences.Passed(i.name, t.Command) }
	if passed(c.Tasks.Task(i.name, "")) {
		return false
	}
	shards := c.Tasks.Divided(i.name)
	return len(shards) == 0 || slices.ContainsFunc(shards, func(t plan.Task) bool { return !passed(t) })
}
