package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// maxDangling bounds how many references to nowhere are named.
const maxDangling = 20

// inputWarnings returns the warnings about edited rules, about a base without
// integrations, and about references of head that lead nowhere.
func (l *ladder) inputWarnings() []string {
	out := append([]string{}, l.Edits.Notes...)
	if len(l.base) == 0 {
		out = append(out,
			fmt.Sprintf("base defines no integration (no datafile has the $schema %q): this is the first change that defines "+
				"any, and base knows no command to run them by", l.Settings.DefinitionSchema()))
	}
	dangling := l.comparison.Mentions().DanglingRefs(l.Head)
	for i, r := range dangling {
		if i == maxDangling {
			out = append(out, fmt.Sprintf("%d more references lead nowhere on head", len(dangling)-i))
			break
		}
		out = append(out, fmt.Sprintf("datafile %q refers to %q, which does not exist on head", r.From, r.To))
	}
	return out
}

// maxEdited bounds how many integrations with edited rules are named.
const maxEdited = 10

// editWarning names the integrations that run because head edits their rules.
func editWarning(decisions []plan.Decision) []string {
	var names []string
	for _, d := range decisions {
		if len(d.Evidence.Edited) > 0 && d.Decision != plan.Skip {
			names = append(names, d.Name)
		}
	}
	n, rest := len(names), ""
	if n == 0 {
		return nil
	}
	if n > maxEdited {
		names, rest = names[:maxEdited], fmt.Sprintf(" and %d more", n-maxEdited)
	}
	return []string{fmt.Sprintf("in full, because head edits the rules for it: %s%s", strings.Join(names, ", "), rest)}
}

// noExecWarning tells how many tasks cannot be started because the settings do not
// say how.
func noExecWarning(tasks []plan.Task) []string {
	n := 0
	for _, t := range tasks {
		if hasNoExec(t) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d tasks are not run: %s", n, len(tasks), plan.Reason{Code: plan.CodeNoExec})}
}

// hasNoExec tells whether a task cannot be started because the settings do not say
// how.
func hasNoExec(t plan.Task) bool { return t.Blocked == plan.Reason{Code: plan.CodeNoExec}.String() }

// warnings returns the warnings about one integration.
func (l *ladder) warnings(o schemafilter.Outcome, d plan.Decision, tasks []plan.Task) []string {
	var out []string
	warn := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("integration %q: ", o.Name)+fmt.Sprintf(format, args...))
	}
	it := l.Settings.For(o.Name)
	if d.Rung == plan.RungDefinition && d.Decision == plan.Skip && o.Head == nil {
		warn("head removes its definition, so nothing checks what it did")
	}
	blocked := func(t plan.Task) bool { return t.Blocked != "" && !hasNoExec(t) }
	if i := slices.IndexFunc(tasks, blocked); i >= 0 {
		warn("not run: %s", tasks[i].Blocked)
	}
	if d.Decision != plan.Skip && len(d.Evidence.Fields) > 0 && !o.FromHead() {
		tried := ""
		if hasNewCommand(o) && !l.Settings.TrustNewCommands() {
			tried = "; the command that head gives it was not tried (trust.new_commands would run it)"
		}
		warn("head changes its definition (%s); it runs as base defines it%s", strings.Join(d.Evidence.Fields, ", "), tried)
	}
	for _, q := range l.subjects[o.Name].Queries {
		if q.Doubt != "" {
			warn("%s: %s", q.Name, q.Doubt)
		}
	}
	if o.Use.Check == nil {
		return out
	}
	if !o.Use.Check.Disabled && len(o.Use.Schemas) == 0 {
		warn("its definition allows no schema at all")
	}
	if option := shardOption(o, it); option != "" && strings.Contains(o.Use.Check.Cmd, option) {
		warn("its pr_check.cmd %q has %s already, which its shards add once more", o.Use.Check.Cmd, option)
	}
	if d.Decision != plan.Skip && o.Use.Check.ImageRef != "" && !it.Exec.UsesImage() {
		warn("its pr_check.imageRef %q is not used, since exec.argv has no {image_ref}", o.Use.Check.ImageRef)
	}
	if unused := l.unusedImages(o, it, tasks); len(unused) > 0 {
		warn("its managed[].sharding names images of single shards (%s), which are not used: %s", strings.Join(unused, ", "),
			whyUnused(it))
	}
	return out
}

// unusedImages lists the images that a definition names for single shards and that
// no task is started from.
func (l *ladder) unusedImages(o schemafilter.Outcome, it settings.Integration, tasks []plan.Task) []string {
	if len(tasks) == 0 {
		return nil
	}
	named := sharding.OverrideImages(o.Use.Managed())
	divided := it.Exec.UsesImage() && !slices.ContainsFunc(tasks, func(t plan.Task) bool { return t.Shard == "" })
	if divided && it.Shards != nil && it.Shards.Strategy != settings.StrategyNone {
		for _, p := range l.divider.byStrategy(o, it.Shards.Strategy).parts {
			named = slices.DeleteFunc(named, func(image string) bool { return image == p.image })
		}
	}
	return named
}

// whyUnused returns why images of single shards are not used, and the remedy.
func whyUnused(it settings.Integration) string {
	switch {
	case it.Shards == nil || it.Shards.Strategy == settings.StrategyNone:
		return "shards.strategy: managed in the settings would run these shards alone"
	case !it.Exec.UsesImage():
		return "exec.argv has no {image_ref}"
	}
	return "no task is for one of these shards alone"
}
