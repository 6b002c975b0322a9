package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
)

// maxDangling bounds how many references to nowhere are named.
const maxDangling = 20

// warnings says what is wrong with the bundles without stopping a plan.
func (m *maker) warnings() []string {
	out := append([]string{}, m.Edits.Notes...)
	dangling := m.world.Mentions().DanglingRefs(m.Head)
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

// edited says once which integrations run because head edits their rules.
func edited(decisions []plan.Decision) []string {
	var names []string
	for _, d := range decisions {
		if len(d.Evidence.Edited) > 0 {
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

// unstartable says once how many tasks nothing says how to start.
func unstartable(tasks []plan.Task) []string {
	n := 0
	for _, t := range tasks {
		if t.Blocked == noExec {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d tasks are not run: %s", n, len(tasks), noExec)}
}

// warn says what a reader of the plan should know about one integration.
func (m *maker) warn(o schemafilter.Outcome, d plan.Decision, tasks []plan.Task) []string {
	var out []string
	say := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("integration %q: ", o.Name)+fmt.Sprintf(format, args...))
	}
	if d.Rung == plan.RungDefinition && d.Decision == plan.Skip && m.removed(o.Name) {
		say("head removes its definition, so nothing checks what it did")
	}
	blocked := func(t plan.Task) bool { return t.Blocked != "" && t.Blocked != noExec }
	if i := slices.IndexFunc(tasks, blocked); i >= 0 {
		say("not run: %s", tasks[i].Blocked)
	}
	if d.Decision != plan.Skip && len(d.Evidence.Fields) > 0 && !m.fromHead(o) {
		say("head changes its definition (%s); it runs as base defines it", strings.Join(d.Evidence.Fields, ", "))
	}
	for _, q := range m.subjects[o.Name].Queries {
		if q.Doubt != "" {
			say("%s: %s", q.Name, q.Doubt)
		}
	}
	if o.Use.Check != nil && !o.Use.Check.Disabled && len(o.Use.Schemas) == 0 {
		say("its definition allows no schema at all")
	}
	if arg := m.shardArg(m.Settings.For(o.Name)); arg != "" && o.Use.Check != nil && strings.Contains(o.Use.Check.Cmd, arg) {
		say("its pr_check.cmd %q has %s already, which its shards add once more", o.Use.Check.Cmd, arg)
	}
	if d.Decision != plan.Skip && o.Use.Check != nil && o.Use.Check.ImageRef != "" && !m.Settings.For(o.Name).Exec.UsesImage() {
		say("its pr_check.imageRef %q is not used, since exec.argv has no {image_ref}", o.Use.Check.ImageRef)
	}
	if unused := m.unusedImages(o, tasks); len(unused) > 0 {
		say("its managed[].sharding names images of single shards (%s), which are not used: %s", strings.Join(unused, ", "), m.whyUnused(o))
	}
	return out
}

// unusedImages lists the images that a definition names for single shards and that
// no task of theirs is started from.
func (m *maker) unusedImages(o schemafilter.Outcome, tasks []plan.Task) []string {
	if len(tasks) == 0 {
		return nil
	}
	named := sharding.OverrideImages(o.Use.Managed())
	divided := m.Settings.For(o.Name).Exec.UsesImage() && !slices.ContainsFunc(tasks, func(t plan.Task) bool { return t.Shard == "" })
	if s := m.Settings.For(o.Name).Shards; divided && s != nil && s.Strategy != integration.StrategyNone {
		for _, p := range m.division(o, s.Strategy).parts {
			named = slices.DeleteFunc(named, func(image string) bool { return image == p.image })
		}
	}
	return named
}

// whyUnused tells why images of single shards are not used, and the remedy.
func (m *maker) whyUnused(o schemafilter.Outcome) string {
	switch s := m.Settings.For(o.Name).Shards; {
	case s == nil || s.Strategy == integration.StrategyNone:
		return "shards.strategy: managed in the settings would run these shards alone"
	case !m.Settings.For(o.Name).Exec.UsesImage():
		return "exec.argv has no {image_ref}"
	}
	return "no task is for one of these shards alone"
}

func (m *maker) removed(name string) bool {
	for _, d := range m.head {
		if d.Name == name {
			return false
		}
	}
	return true
}
