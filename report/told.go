package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// Told is what a native integration tells of a change by the data alone.
type Told struct {
	Integration string         `json:"integration"`
	Effects     *plan.Effects  `json:"effects"`
	Findings    []plan.Finding `json:"findings"`
	Problem     string         `json:"problem,omitempty"` // why it is not known, "" if it is
}

// Fails reports whether the change must not be merged as it is, or if that is not known.
func (t Told) Fails() bool {
	return t.Problem != "" || slices.ContainsFunc(t.Findings, plan.Finding.Fails)
}

// LocateTold fills in the lines of what is told.
func LocateTold(all []Told, l Locator) {
	at := findingLocator{l, map[Origin]Location{}}
	left := maxFound
	for _, t := range all {
		for i := range t.Findings[:min(len(t.Findings), left)] {
			place := at.locate(t.Findings[i])
			t.Findings[i].Path, t.Findings[i].Line = place.Path, place.Line
		}
		if t.Effects != nil {
			at.locateEffects(t.Effects.Items, &left)
		}
	}
}

// all returns what is told as the effects of tasks.
func (t Told) all() AllEffects {
	out := AllEffects{Tasks: 1}
	groups := map[groupKey]*EffectGroup{}
	if t.Effects != nil {
		out.addAnnouncement(groups, announcement{integration: t.Integration, task: t.Integration, tasks: 1,
			effects: t.Effects})
	}
	for _, g := range groups {
		out.Groups = append(out.Groups, *g)
	}
	slices.SortFunc(out.Groups, compareGroups)
	return out
}

// summary says in one line what is told.
func (t Told) summary(e AllEffects) string {
	if t.Problem != "" {
		return "not known: " + cleanLine(t.Problem)
	}
	text := "no effects by the data alone"
	if n := e.Counts.Sum(); n > 0 {
		text = fmt.Sprintf("%s from the data alone: %s", phrase.Count(n, "effect"), e.Counts)
	}
	for _, p := range e.Unasked {
		if p.What == plan.UnlookedRemoved {
			text += "; " + cleanLine(p.Reason())
		}
	}
	if len(e.Unknown) > 0 {
		return text + "; " + cleanLine(e.Unknown[0].Reason)
	}
	return text + "; drift is not known"
}

// ToldText writes what is told as text for a terminal: one line for each effect, with the line of the data that leads
// to it, and below it the fields that change.
func ToldText(w io.Writer, all []Told, style Style) error {
	t := text{style: style}
	for _, told := range all {
		e := told.all()
		t.printHeading("What the change does, says %s", cleanLine(told.Integration))
		var rows table
		for _, f := range told.shown() {
			rows = append(rows, []cell{{text: cleanLine(f.Where())}, {text: findingWord(f)},
				{text: cleanLine(strings.TrimSpace(string(f.Code) + " " + f.Message))}})
		}
		for _, g := range e.Groups {
			rows = append(rows, []cell{{text: cleanLine(g.Places())}, {text: cleanLine(string(g.Kind)), color: kindColor(g)},
				{text: cleanLine(strings.TrimSpace(g.What() + " " + g.Action)), color: kindColor(g)}})
			for _, line := range g.Fields(len(g.Changes)) {
				rows = append(rows, []cell{{}, {}, {text: "  " + cleanLine(line)}})
			}
		}
		rows.writeTo(&t.out, t.style, "  ")
		t.printLine("  %s", told.summary(e))
	}
	return t.writeTo(w)
}

// shown returns the findings to show: notes say what effects say.
func (t Told) shown() []plan.Finding {
	isNote := func(f plan.Finding) bool { return f.Severity == plan.SeverityNote }
	return slices.DeleteFunc(slices.Clone(t.Findings), isNote)
}

// findingWord says how bad a finding is.
func findingWord(f plan.Finding) string {
	if f.Old {
		return "old"
	}
	return string(f.Severity)
}

// ToldMarkdown writes what is told as Markdown.
func ToldMarkdown(w io.Writer, all []Told) error {
	m := markdown{}
	for _, told := range all {
		e := told.all()
		m.printLine("\n#### What the change does, says %s\n", md.Code(told.Integration))
		if len(e.Groups) > 0 {
			m.writeEffectRows(&Report{}, e.Groups[:min(len(e.Groups), maxFolded)])
			m.printLine("")
		}
		for _, f := range told.shown() {
			m.printLine("- %s %s: %s", findingWord(f), codeSpan(f.Where()),
				escapeMarkdown(strings.TrimSpace(string(f.Code)+" "+f.Message)))
		}
		if len(told.shown()) > 0 {
			m.printLine("")
		}
		m.printLine("%s.", startSentence(escapeMarkdown(told.summary(e))))
	}
	_, err := io.WriteString(w, m.out.String())
	return err
}
