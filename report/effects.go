package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// AllEffects are what all tasks of a report announce that they would do: the tasks that
// ran, and those that were left out because they passed with the same inputs before.
type AllEffects struct {
	// Summary says the numbers below in a few words, as headlines show them: "3 to create,
	// 1 to delete". It is "" if nobody looked for the effects of any task.
	Summary string `json:"summary,omitempty"`
	// Counts are the effects that would be done and that the change causes, or may cause:
	// base does not announce them, or they were not compared with base.
	Counts EffectCounts `json:"counts"`
	// Pending are the effects that base announces as well. They would be done without
	// the change, too.
	Pending EffectCounts `json:"pending,omitzero"`
	// Gone are the effects that base alone announces.
	Gone EffectCounts `json:"gone,omitzero"`
	// Groups are the effects, deletions first, then by integration and task. Equal effects
	// of the tasks of one integration are one group. Effects that are gone come last.
	Groups []EffectGroup `json:"groups"`
	// Tasks is how many tasks ran or were left out because they passed before.
	Tasks int `json:"tasks"`
	// Unknown are the tasks whose effects cannot be told, with the reasons.
	Unknown []EffectGap `json:"unknown"`
	// Unasked are the parts of tasks at which nobody looked, although the effects by the data are known.
	Unasked []UnaskedPart `json:"unasked,omitempty"`
	// Unlooked are the integrations for whose effects nobody looked, in name order.
	Unlooked []UnlookedIntegration `json:"unlooked"`
	// Labels are the labels that the merge request needs because of these effects, as the
	// settings of base say.
	Labels []NeededLabel `json:"labels,omitempty"`
	// Uncompared are the tasks whose effects should have been compared with those on base,
	// and were not. Their effects count as caused by the change.
	Uncompared []EffectGap `json:"uncompared,omitempty"`
	// Problems are lines of output that could not be read, by task.
	Problems []EffectGap `json:"problems,omitempty"`
}

// An EffectGroup is one effect of an integration, with the tasks that announce it.
type EffectGroup struct {
	Integration string          `json:"integration"`
	Kind        plan.EffectKind `json:"kind"`
	// untrusted; "" for effects that were only counted, because there are too many
	Subject string     `json:"subject,omitempty"`
	Since   plan.Since `json:"since,omitempty"` // "" if it was not compared with base
	Known   plan.How   `json:"known,omitempty"` // how it is known; "" if a program said it
	Count   int        `json:"count"`           // how often all these tasks announce it
	Tasks   []string   `json:"tasks"`           // in plan order; tasks that were left out come last
}

// An EffectGap is a task of which something is not known, with the reason.
type EffectGap struct {
	Task   string `json:"task"` // the integration, if there are several tasks
	Tasks  int    `json:"tasks"`
	Reason string `json:"reason"`
}

// An UnlookedIntegration is an integration for whose effects nobody looked.
type UnlookedIntegration struct {
	Integration string `json:"integration"`
	Tasks       int    `json:"tasks"`
}

// Looked reports whether somebody looked for the effects of at least one task.
func (e AllEffects) Looked() bool { return e.Tasks > e.unlookedTasks() }

// Complete reports whether the effects of every task are known, those of all its parts.
func (e AllEffects) Complete() bool { return len(e.Unknown)+len(e.Unlooked)+len(e.Unasked) == 0 }

// Silent reports whether it is known that no task would do anything: every task ran or
// passed before, somebody looked at all of them, and none announced an effect.
func (e AllEffects) Silent() bool {
	return e.Tasks > 0 && e.Complete() && e.Counts.Sum()+e.Pending.Sum() == 0
}

// unlookedTasks returns the number of tasks for whose effects nobody looked.
func (e AllEffects) unlookedTasks() int {
	n := 0
	for _, u := range e.Unlooked {
		n += u.Tasks
	}
	return n
}

// doubtful returns the number of tasks whose effects are not known.
func (e AllEffects) doubtful() int {
	n := e.unlookedTasks()
	for _, u := range e.Unknown {
		n += u.Tasks
	}
	return n
}

// An announcement is one task with the effects that it announces.
type announcement struct {
	integration, task string
	tasks             int // more than 1 for tasks of which only the number is known
	effects           *plan.Effects
	silence           string // why the effects are nil although somebody looks for effects; "" if not known
}

// collectEffects returns the effects of all tasks of a plan.
func collectEffects(p *plan.Plan, results []TaskResult) AllEffects {
	out := AllEffects{Groups: []EffectGroup{}, Unknown: []EffectGap{}, Unlooked: []UnlookedIntegration{}}
	var all []announcement
	for _, t := range results {
		a := announcement{integration: t.Integration, task: t.Task, tasks: 1, effects: t.Effects}
		if t.Attempts == 0 && !t.OK() {
			a.silence = describeAttempt(t.Status, t.Reason)
		}
		all = append(all, a)
	}
	all = append(all, reusedTasks(p)...)
	looked := slices.ContainsFunc(all, func(a announcement) bool { return a.effects != nil })
	unlooked := map[string]int{}
	groups := map[groupKey]*EffectGroup{}
	for _, a := range all {
		out.Tasks += a.tasks
		switch {
		case a.effects == nil && looked && a.silence != "":
			out.Unknown = append(out.Unknown, EffectGap{a.task, a.tasks, a.silence})
		case a.effects == nil:
			unlooked[a.integration] += a.tasks
		case a.effects.Unknown != "":
			out.Unknown = append(out.Unknown, EffectGap{a.task, a.tasks, a.effects.Unknown})
		default:
			out.addAnnouncement(groups, a)
		}
	}
	for _, g := range groups {
		out.Groups = append(out.Groups, *g)
	}
	slices.SortFunc(out.Groups, compareGroups)
	for name, n := range unlooked {
		out.Unlooked = append(out.Unlooked, UnlookedIntegration{name, n})
	}
	slices.SortFunc(out.Unlooked, func(a, b UnlookedIntegration) int {
		return strings.Compare(a.Integration, b.Integration)
	})
	out.Summary = out.SummaryWith(plainly)
	out.Labels = out.neededLabels(p.Require)
	return out
}

// A groupKey is what the effects of one group have in common.
type groupKey struct {
	integration string
	kind        plan.EffectKind
	subject     string
	since       plan.Since
	known       plan.How
}

// addAnnouncement adds the effects of one task to the counts and to the groups.
func (e *AllEffects) addAnnouncement(groups map[groupKey]*EffectGroup, a announcement) {
	add := func(kind plan.EffectKind, subject string, since plan.Since, known plan.How, n int) {
		switch since {
		case plan.SinceBase:
			e.Pending.add(kind, n)
		case plan.SinceGone:
			e.Gone.add(kind, n)
		default:
			e.Counts.add(kind, n)
		}
		key := groupKey{a.integration, kind, subject, since, known}
		if groups[key] == nil {
			groups[key] = &EffectGroup{Integration: a.integration, Kind: kind, Subject: subject, Since: since, Known: known}
		}
		g := groups[key]
		if g.Count += n; !slices.Contains(g.Tasks, a.task) {
			g.Tasks = append(g.Tasks, a.task)
		}
	}
	for _, item := range a.effects.Items {
		add(item.Kind, item.Subject, item.Since, item.Known.How, max(1, item.Times))
	}
	for _, kind := range plan.EffectKinds() {
		if n := a.effects.Beyond[kind]; n > 0 {
			add(kind, "", "", "", n)
		}
	}
	e.addUnasked(a)
	if a.effects.Uncompared != "" {
		e.Uncompared = append(e.Uncompared, EffectGap{a.task, a.tasks, a.effects.Uncompared})
	}
	for _, problem := range a.effects.Problems {
		e.Problems = append(e.Problems, EffectGap{a.task, a.tasks, problem})
	}
}

// compareGroups orders groups: effects that are gone come last, deletions first, pending
// effects after those of the change. Effects that were only counted follow their like.
func compareGroups(a, b EffectGroup) int {
	return cmp.Or(
		cmp.Compare(rank(a.Since == plan.SinceGone), rank(b.Since == plan.SinceGone)),
		cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)),
		cmp.Compare(rank(a.Since == plan.SinceBase), rank(b.Since == plan.SinceBase)),
		strings.Compare(a.Integration, b.Integration),
		cmp.Compare(rank(a.Subject == ""), rank(b.Subject == "")),
		strings.Compare(a.Tasks[0], b.Tasks[0]),
		strings.Compare(a.Subject, b.Subject),
		strings.Compare(string(a.Since), string(b.Since)),
		strings.Compare(string(a.Known), string(b.Known)),
		strings.Compare(string(a.Kind), string(b.Kind)),
	)
}

// rank returns 1 for true, else 0.
func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// kindRank returns the place of a kind in the order in which people are shown them.
func kindRank(k plan.EffectKind) int {
	if i := slices.Index(plan.EffectKinds(), k); i >= 0 {
		return i
	}
	return len(plan.EffectKinds())
}

// reusedTasks returns the tasks that were left out because they passed before. The plan
// keeps only some of them with their effects; of the others it keeps the number.
func reusedTasks(p *plan.Plan) []announcement {
	var out []announcement
	for _, d := range p.Integrations {
		for _, earlier := range d.Evidence.Passed {
			out = append(out, announcement{integration: d.Name, task: earlierTask(d.Name, earlier), tasks: 1,
				effects: earlier.Effects})
		}
		if more := d.Evidence.Reused - len(d.Evidence.Passed); more > 0 {
			out = append(out, announcement{integration: d.Name, task: d.Name, tasks: more,
				silence: "passed before, and the plan keeps the effects of only some of these tasks"})
		}
	}
	return out
}

// earlierTask returns the name of a task that passed before.
func earlierTask(integration string, e plan.Earlier) string {
	if e.Shard == "" {
		return integration
	}
	return integration + "/" + e.Shard
}
