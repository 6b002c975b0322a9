package report

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// Bounds of what a note shows without a fold.
const (
	minOpenDeletions = 10 // even if there is no room
	maxOpenEffects   = 10 // besides deletions
	maxOpenGaps      = 5  // of one kind
)

// writeEffects writes what the tasks would do, deletions first, with the lines that lead to it. What the change
// does not do is folded.
func (m *markdown) writeEffects(rep *Report) {
	e := rep.Effects
	deletions, others := e.Deletions(), e.Others()
	var open, deletes, more []EffectGroup
	left := maxOpenLines - strings.Count(m.out.String(), "\n") - rep.linesAfterEffects()
	most := max(minOpenDeletions, left)
	for i, g := range deletions {
		switch isOwn := g.Since != plan.SinceBase; {
		case isOwn && i < most:
			open = append(open, g)
		case isOwn:
			deletes = append(deletes, g)
		default:
			more = append(more, g)
		}
	}
	room := min(maxOpenEffects, max(0, most-len(open)))
	for _, g := range others {
		if isOwn := g.Since == plan.SinceChange || g.Since == ""; isOwn && room > 0 {
			room--
			open = append(open, g)
		} else {
			more = append(more, g)
		}
	}
	if len(open) > 0 {
		m.printLine("")
		m.writeEffectRows(rep, open)
		if text := e.Sources(); text != "" {
			m.printLine("\n%s", text)
		}
	}
	m.foldEffects(rep, fmt.Sprintf("%d more to delete", countGroups(deletes)), deletes)
	m.foldEffects(rep, phrase.Count(countGroups(more), "more effect"), more)
}

// linesAfterEffects returns how many lines a note needs besides its title and the rows of effects: the rest of their
// table, labels, and the first failure.
func (rep *Report) linesAfterEffects() int {
	n := 6 + 2*len(rep.Effects.Labels)
	if len(rep.failedTasks()) > 0 {
		n += 14
	}
	return n
}

// foldEffects folds a table of effects.
func (m *markdown) foldEffects(rep *Report, title string, groups []EffectGroup) {
	if len(groups) == 0 {
		return
	}
	var part markdown
	part.writeEffectRows(rep, groups[:min(len(groups), maxFolded)])
	if left := len(groups) - maxFolded; left > 0 {
		part.printLine("\nand %s.", phrase.Count(left, "more effect"))
	}
	m.folds = append(m.folds, markdownFold{title, part.out.String()})
}

// Sources says how the effects are known, and whether they were compared.
func (e AllEffects) Sources() string {
	var out []string
	if e.Open > 0 {
		out = append(out, "These dry runs were not compared with main: what is pending anyway is among them.")
	}
	isOfData := 0
	for _, g := range e.Groups {
		if g.Known == plan.KnownData {
			isOfData += g.Count
		}
	}
	if isOfData > 0 {
		out = append(out, fmt.Sprintf("%s known from the data alone: nobody asked the target.",
			map[bool]string{true: "1 of the effects is", false: fmt.Sprintf("%d of the effects are", isOfData)}[isOfData == 1]))
	}
	return strings.Join(out, " ")
}

// writeEffectRows writes a table of effects.
func (m *markdown) writeEffectRows(rep *Report, groups []EffectGroup) {
	m.writeRow("effect", "what", "from → to", "line", "says")
	m.writeRow(":--", ":--", ":--", ":--", ":--")
	for _, g := range groups {
		kind := escapeMarkdown(string(g.Kind))
		if g.Kind == plan.EffectDelete && g.Since != plan.SinceGone {
			kind = boldMarkdown(kind)
		}
		what := codeSpan(g.What())
		if remarks := g.Remarks(); remarks != "" {
			what += " " + escapeMarkdown(remarks)
		}
		var fields []string
		for _, line := range g.Fields(maxShownFields) {
			fields = append(fields, codeSpan(line))
		}
		m.writeRow(kind, what, strings.Join(fields, "<br>"), rep.LineOf(g), codeSpan(g.Where()))
	}
}

// LineOf returns, as Markdown, the places that lead to an effect. Of what a program says nobody knows them: it is
// told what woke its task.
func (rep *Report) LineOf(g EffectGroup) string {
	if text := g.places(codeSpan); text != "" || g.CauseUnknown != "" {
		return text + escapeMarkdown(g.CauseUnknown)
	}
	if g.Known != "" || g.Since == plan.SinceBase || g.Since == plan.SinceGone {
		return ""
	}
	in := rep.integration(TaskResult{Integration: g.Integration})
	if len(in.Causes) == 0 {
		return ""
	}
	text := "woken by " + codeSpan(in.Causes[0].Path)
	if more := len(in.Causes) - 1 + in.MoreCauses; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// writeUnknown writes what nobody knows.
func (m *markdown) writeUnknown(e AllEffects) {
	if e.Tasks == 0 {
		return
	}
	if !e.Looked() {
		m.printLine("\nEffects: %s.", e.UnlookedNote(codeSpan))
		return
	}
	for _, list := range e.GapLists() {
		if len(list.Gaps) > 0 {
			m.printLine("\n%s:\n", startSentence(list.Title))
		}
		for _, gap := range list.Gaps[:min(len(list.Gaps), maxOpenGaps)] {
			m.printLine("- %s: %s", codeSpan(gap.Name()), escapeMarkdown(gap.Reason))
		}
		if more := len(list.Gaps) - maxOpenGaps; more > 0 {
			m.printLine("- and %d more", more)
		}
	}
	if note := e.UnlookedNote(codeSpan); note != "" {
		m.printLine("\n%s.", startSentence(note))
	}
}
