package report

import (
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
)

// writeEffects writes what the tasks would do: deletions open, other effects folded.
func (m *markdown) writeEffects(e AllEffects) {
	if e.Tasks == 0 {
		return
	}
	if !e.Looked() {
		m.printLine("\nEffects: %s.", e.UnlookedNote(codeSpan))
		m.writeLabels(e.Labels)
		return
	}
	m.printLine("\n#### Effects: %s", e.SummaryWith(boldMarkdown))
	deletions, others := e.Deletions(), e.Others()
	if len(deletions) > 0 {
		m.printLine("")
		m.writeEffectRows("deletions", deletions, maxDeletions)
	}
	if len(others) > 0 {
		end := m.startFold("%s besides deletions", phrase.Count(countGroups(others), "effect"))
		m.writeEffectRows("effects", others, maxFolded)
		end()
	}
	for _, list := range e.GapLists() {
		m.writeGaps(startSentence(list.Title), list.Gaps)
	}
	if note := e.UnlookedNote(codeSpan); note != "" {
		m.printLine("\n%s.", startSentence(note))
	}
	m.writeLabels(e.Labels)
}

// writeLabels writes which labels the merge request needs.
func (m *markdown) writeLabels(labels []NeededLabel) {
	for _, l := range labels {
		m.printLine("\nA merge request **needs the label** %s: %s.", codeSpan(l.Label), l.Why)
	}
}

// writeEffectRows writes a table of effects, and how many are beyond it.
func (m *markdown) writeEffectRows(noun string, groups []EffectGroup, most int) {
	m.writeRow("effect", "announced by", "what", "")
	m.writeRow(":--", ":--", ":--", ":--")
	for _, g := range groups[:min(len(groups), most)] {
		m.writeRow(escapeMarkdown(string(g.Kind)), codeSpan(g.Where()), codeSpan(g.What()), g.Remarks())
	}
	if more := len(groups) - most; more > 0 {
		m.printLine("\nand %d more %s.", more, noun)
	}
}

// countGroups returns the number of effects in some groups.
func countGroups(groups []EffectGroup) int {
	n := 0
	for _, g := range groups {
		n += g.Count
	}
	return n
}

// writeGaps writes the tasks of which something is not known.
func (m *markdown) writeGaps(title string, gaps []EffectGap) {
	if len(gaps) == 0 {
		return
	}
	m.printLine("\n%s:\n", title)
	for _, gap := range gaps[:min(len(gaps), maxGaps)] {
		m.printLine("- %s: %s", codeSpan(gap.Name()), escapeMarkdown(gap.Reason))
	}
	if more := len(gaps) - maxGaps; more > 0 {
		m.printLine("- and %d more", more)
	}
}

// boldMarkdown returns text in bold. The text must be our own.
func boldMarkdown(text string) string { return "**" + text + "**" }

// startSentence returns a text with a capital letter at its beginning.
func startSentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
