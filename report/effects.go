package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
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
	// Open is how many of them were not compared with base, so that some may be pending anyway.
	Open int `json:"open,omitempty"`
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
	Why     string     `json:"why,omitempty"`   // nobody asked its target
	Count   int        `json:"count"`           // how often all these tasks announce it
	Tasks   []string   `json:"tasks"`           // in plan order; tasks that were left out come last

	// What else is known of it, as [plan.Effect] has it.
	Type          string             `json:"type,omitempty"`
	Name          string             `json:"name,omitempty"`
	Target        string             `json:"target,omitempty"`
	Part          string             `json:"part,omitempty"`
	Action        string             `json:"action,omitempty"`
	Cause         []plan.Cause       `json:"cause,omitempty"`
	CauseBeyond   int                `json:"cause_beyond,omitempty"`
	CauseUnknown  string             `json:"cause_unknown,omitempty"`
	Changes       []plan.FieldChange `json:"changes,omitempty"`
	ChangesBeyond int                `json:"changes_beyond,omitempty"`
	Text          string             `json:"text,omitempty"`
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
	integration, identity string
	since                 plan.Since
	known                 plan.How
}

// addAnnouncement adds the effects of one task to the counts and to the groups.
func (e *AllEffects) addAnnouncement(groups map[groupKey]*EffectGroup, a announcement) {
	for _, item := range a.effects.Items {
		e.addItem(groups, a, item, max(1, item.Times))
	}
	for _, kind := range plan.EffectKinds() {
		if n := a.effects.Beyond[kind]; n > 0 {
			e.addItem(groups, a, plan.Effect{Kind: kind}, n)
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

// addItem adds an effect that a task announces n times.
func (e *AllEffects) addItem(groups map[groupKey]*EffectGroup, a announcement, item plan.Effect, n int) {
	switch item.Since {
	case plan.SinceBase:
		e.Pending.add(item.Kind, n)
	case plan.SinceGone:
		e.Gone.add(item.Kind, n)
	case "":
		e.Open += n
		e.Counts.add(item.Kind, n)
	default:
		e.Counts.add(item.Kind, n)
	}
	known := item.Known.How
	if item.Known.IsSaid() {
		known = ""
	}
	key := groupKey{a.integration, item.Identity(), item.Since, known}
	g := groups[key]
	if g == nil {
		g = &EffectGroup{Integration: a.integration, Kind: item.Kind, Subject: item.Subject, Since: item.Since,
			Known: known, Why: item.Known.Why, Type: item.Type, Name: item.Name, Target: item.Target, Part: item.Part,
			Action: item.Action, Cause: item.Cause, CauseBeyond: item.CauseBeyond, CauseUnknown: item.CauseUnknown,
			Changes: item.Changes, ChangesBeyond: item.ChangesBeyond, Text: item.Text}
		groups[key] = g
	}
	if g.Count += n; !slices.Contains(g.Tasks, a.task) {
		g.Tasks = append(g.Tasks, a.task)
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
		strings.Compare(a.Target, b.Target),
		slices.CompareFunc(a.Changes, b.Changes, func(a, b plan.FieldChange) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(string(a.New), string(b.New)))
		}),
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

// Bounds of the effects that text and Markdown show. JSON has all of them.
const (
	maxDeletions  = 1000 // deletions
	maxEffects    = 30   // other effects in text, unless it is verbose
	maxFolded     = 1000 // other effects in Markdown, where they are folded
	maxGaps       = 20   // tasks whose effects are not known
	maxEffectTask = 4    // tasks that are named beside one effect
)

// Deletions returns the groups of deletions that would be done.
func (e AllEffects) Deletions() []EffectGroup { return e.Groups[:e.deletions()] }

// Others returns all groups but those of [AllEffects.Deletions].
func (e AllEffects) Others() []EffectGroup { return e.Groups[e.deletions():] }

// deletions returns the number of groups of deletions. They are the first groups.
func (e AllEffects) deletions() int {
	n := 0
	for n < len(e.Groups) && e.Groups[n].Kind == plan.EffectDelete && e.Groups[n].Since != plan.SinceGone {
		n++
	}
	return n
}

// Where returns the task that announces the effect, or the integration with its tasks.
func (g EffectGroup) Where() string {
	if len(g.Tasks) == 1 {
		return g.Tasks[0]
	}
	var names []string
	for _, task := range g.Tasks[:min(len(g.Tasks), maxEffectTask)] {
		names = append(names, strings.TrimPrefix(task, g.Integration+"/"))
	}
	text := fmt.Sprintf("%s (%s: %s", g.Integration, phrase.Count(len(g.Tasks), "task"), strings.Join(names, ", "))
	if more := len(g.Tasks) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ")"
}

// Verb returns the kind and what is known of base, such as "to delete" or "to create
// already pending on base".
func (g EffectGroup) Verb() string {
	text := "other"
	if g.Kind == plan.EffectDelete || g.Kind == plan.EffectCreate || g.Kind == plan.EffectChange {
		text = "to " + string(g.Kind)
	}
	switch g.Since {
	case plan.SinceBase:
		return text + " already pending on base"
	case plan.SinceGone:
		return text + " no longer announced"
	}
	return text
}

// What returns what would be created, changed or deleted.
func (g EffectGroup) What() string {
	if g.Subject == "" {
		return fmt.Sprintf("(%d more, of which only the number is known: the logs have them)", g.Count)
	}
	if g.Name != "" {
		return strings.TrimSpace(g.Type + " " + g.Name)
	}
	return g.Subject
}

// Remarks returns how often the effect is announced, if that is more than once by each
// task, and what is known of base.
func (g EffectGroup) Remarks() string {
	var parts []string
	if g.Subject != "" && g.Count > len(g.Tasks) {
		parts = append(parts, fmt.Sprintf("%d times", g.Count))
	}
	if g.Action != "" {
		parts = append(parts, g.Action)
	}
	switch g.Known {
	case plan.KnownData:
		parts = append(parts, "from the data alone")
	case plan.KnownRemembered:
		parts = append(parts, cmp.Or(g.Why, "from an earlier run"))
	case plan.KnownLive, plan.KnownSaid:
	}
	switch g.Since {
	case plan.SinceBase:
		parts = append(parts, "already pending on base")
	case plan.SinceGone:
		parts = append(parts, "no longer announced, only base announces it")
	}
	return strings.Join(parts, ", ")
}

// UnlookedNote says for which integrations nobody looked, each name shown by show. It
// returns "" if there is none.
func (e AllEffects) UnlookedNote(show func(string) string) string {
	switch n := len(e.Unlooked); {
	case n == 0:
		return ""
	case !e.Looked():
		return "not known what the tasks would do, since the settings have no rules that find effects"
	}
	var names []string
	for _, u := range e.Unlooked[:min(len(e.Unlooked), maxGaps)] {
		names = append(names, show(u.Integration))
	}
	text := strings.Join(names, ", ")
	if more := len(e.Unlooked) - len(names); more > 0 {
		text += fmt.Sprintf(" and %s", phrase.Count(more, "more integration"))
	}
	return "what these integrations would do is not known, since no rule finds their effects: " + text
}

// writeEffects writes what the tasks would do, deletions first.
func (t *text) writeEffects(e AllEffects) {
	if e.Tasks == 0 {
		return
	}
	if !e.Looked() {
		t.printLine("\nEffects: %s", e.UnlookedNote(cleanLine))
		t.writeLabels(e.Labels)
		return
	}
	t.printHeading("Effects: %s", e.Summary)
	room := maxEffects
	if t.style.Verbose {
		room = len(e.Groups)
	}
	deletions, others := e.Deletions(), e.Others()
	groups := slices.Concat(deletions[:min(len(deletions), maxDeletions)], others[:min(len(others), room)])
	t.writeGroups(groups)
	if more := len(e.Groups) - len(groups); more > 0 {
		t.printLine("  and %d more effects; -v shows them", more)
	}
	t.writeGaps(e)
	if note := e.UnlookedNote(cleanLine); note != "" {
		t.printLine("  %s", note)
	}
	t.writeLabels(e.Labels)
}

// writeLabels writes which labels the merge request needs.
func (t *text) writeLabels(labels []NeededLabel) {
	for _, l := range labels {
		t.printLine("  %s", t.style.paint(yellow, "a merge request "+l.String()))
	}
}

// kindColor returns the colour of an effect: deletions must be seen.
func kindColor(g EffectGroup) color {
	switch {
	case g.Since == plan.SinceGone:
		return faint
	case g.Kind == plan.EffectDelete:
		return red
	}
	return plain
}

// A GapList is a kind of gaps: its name as people read it, and the tasks.
type GapList struct {
	Title string
	Gaps  []EffectGap
}

// GapLists returns all that is not known, the most important first.
func (e AllEffects) GapLists() []GapList {
	return []GapList{{"effects unknown", e.Unknown}, {"not looked at", e.unaskedGaps()},
		{"not compared with base", e.Uncompared}, {"output not understood", e.Problems}}
}

// writeGaps writes the tasks of which something is not known.
func (t *text) writeGaps(e AllEffects) {
	var rows table
	for _, list := range e.GapLists() {
		for i, gap := range list.Gaps {
			if i == maxGaps {
				rows = append(rows, []cell{{text: list.Title, color: yellow}, {text: fmt.Sprintf("and %d more", len(list.Gaps)-i)}})
				break
			}
			rows = append(rows, []cell{{text: list.Title, color: yellow}, {text: cleanLine(gap.Name())},
				{text: cleanLine(gap.Reason)}})
		}
	}
	rows.writeTo(&t.out, t.style, "  ")
}

// Name returns the task, or the integration with the number of its tasks.
func (g EffectGap) Name() string {
	if g.Tasks > 1 {
		return fmt.Sprintf("%s (%d tasks)", g.Task, g.Tasks)
	}
	return g.Task
}
