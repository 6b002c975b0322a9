package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

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
	return g.Subject
}

// Remarks returns how often the effect is announced, if that is more than once by each
// task, and what is known of base.
func (g EffectGroup) Remarks() string {
	var parts []string
	if g.Subject != "" && g.Count > len(g.Tasks) {
		parts = append(parts, fmt.Sprintf("%d times", g.Count))
	}
	if g.Known == plan.KnownData {
		parts = append(parts, "from the data alone")
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
	var rows table
	for _, g := range groups {
		rows = append(rows, []cell{{text: cleanLine(string(g.Kind)), color: kindColor(g)}, {text: cleanLine(g.Where())},
			{text: cleanLine(g.What()), color: kindColor(g)}, {text: g.Remarks(), color: faint}})
	}
	rows.writeTo(&t.out, t.style, "  ")
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
