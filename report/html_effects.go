package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// maxPageEffects bounds how many effects besides deletions the page shows.
const maxPageEffects = 10_000

// An effectsView is what the tasks would do, as the page shows it.
type effectsView struct {
	Summary       string
	Deletions     []effectRow
	MoreDeletions int
	Integrations  []effectFold // effects that are no deletions, by integration
	MoreEffects   int
	Gaps          []gapRow
	MoreGaps      int
	Note          string // for which integrations nobody looked
	Labels        []NeededLabel
}

// An effectFold holds the effects of one integration that are no deletions.
type effectFold struct {
	Integration value
	Summary     string // their numbers
	Rows        []effectRow
}

// An effectRow is one effect.
type effectRow struct {
	Kind, Class   string
	Where         value
	What, Remarks string
	Count         int
}

// A gapRow is a task of which something is not known.
type gapRow struct{ Task, Title, Reason string }

// newEffectsView returns the effects of a report, or nil if there is no task.
func newEffectsView(e AllEffects) *effectsView {
	if e.Tasks == 0 {
		return nil
	}
	v := &effectsView{Summary: e.Summary, Note: startSentence(e.UnlookedNote(cleanLine)), Labels: e.Labels}
	deletions, others := e.Deletions(), e.Others()
	v.MoreDeletions, v.MoreEffects = max(0, len(deletions)-maxDeletions), max(0, len(others)-maxPageEffects)
	for _, g := range deletions[:len(deletions)-v.MoreDeletions] {
		v.Deletions = append(v.Deletions, newEffectRow(g, true))
	}
	at := map[string]int{}
	for _, g := range others[:len(others)-v.MoreEffects] {
		i, known := at[g.Integration]
		if !known {
			i = len(v.Integrations)
			at[g.Integration] = i
			v.Integrations = append(v.Integrations,
				effectFold{Integration: value{Text: visibleText(g.Integration), Href: "#" + anchor(g.Integration)}})
		}
		v.Integrations[i].Rows = append(v.Integrations[i].Rows, newEffectRow(g, false))
	}
	for i := range v.Integrations {
		v.Integrations[i].Summary = summarizeRows(v.Integrations[i].Rows)
	}
	for _, list := range e.GapLists() {
		for _, gap := range list.Gaps {
			v.Gaps = append(v.Gaps, gapRow{visibleText(gap.Name()), list.Title, cleanLine(gap.Reason)})
		}
	}
	v.MoreGaps = max(0, len(v.Gaps)-maxFailures)
	v.Gaps = v.Gaps[:len(v.Gaps)-v.MoreGaps]
	return v
}

// newEffectRow returns the row of one effect. A row that stands alone links to its
// integration.
func newEffectRow(g EffectGroup, alone bool) effectRow {
	row := effectRow{
		Kind: cleanLine(string(g.Kind)), Class: effectClass(g), Count: g.Count, Remarks: g.Remarks(),
		What:  cmp.Or(cleanLine(g.What()), "(nothing visible)"),
		Where: value{Text: visibleText(g.Where())},
	}
	if alone {
		row.Where.Href = "#" + anchor(g.Integration)
	}
	return row
}

// effectClass returns the CSS class of an effect: the class of a change with the same
// meaning.
func effectClass(g EffectGroup) string {
	if g.Since == plan.SinceGone {
		return "metadata"
	}
	switch g.Kind {
	case plan.EffectDelete:
		return "removed"
	case plan.EffectCreate:
		return "added"
	case plan.EffectChange:
		return "modified"
	}
	return "other"
}

// summarizeRows returns how many effects of each kind some rows have.
func summarizeRows(rows []effectRow) string {
	var kinds []string
	counts := map[string]int{}
	for _, r := range rows {
		if counts[r.Kind] == 0 {
			kinds = append(kinds, r.Kind)
		}
		counts[r.Kind] += r.Count
	}
	var parts []string
	for _, kind := range kinds {
		parts = append(parts, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// effectTiles returns the numbers of effects for the top of the page.
func effectTiles(e AllEffects) []tile {
	var out []tile
	for _, t := range []struct {
		label, class string
		n            int
	}{{"to delete", "failed", e.Counts.Delete}, {"to create", "", e.Counts.Create}, {"to change", "", e.Counts.Change},
		{"other effects", "", e.Counts.Other}} {
		if t.n > 0 {
			out = append(out, tile{t.label, fmt.Sprint(t.n), t.class})
		}
	}
	if n := e.doubtful(); n > 0 && e.Looked() {
		out = append(out, tile{"effects unknown", fmt.Sprint(n), cssClass(unavailable)})
	}
	return out
}
