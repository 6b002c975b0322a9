package note

import (
	"fmt"
	"slices"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// The bounds of the effects that are shown, even if there is room for more.
const (
	maxDeletions = 500 // rows of deletions
	maxEffects   = 500 // rows of other effects
	maxGaps      = 20  // tasks of which something is not known

	openDeletions = 10 // rows that are not folded, even if there is no room
	openEffects   = 10 // of other effects, if there is room beside the deletions
	tableLines    = 6  // of a table besides its rows, with the line about its sources
	openGaps      = 5  // lines that are not folded
	maxChanged    = 3  // fields of one effect
)

// An effectsPart is what the tasks would do.
type effectsPart struct {
	sources   string   // how they are known
	deletions []string // table rows
	deleted   int      // number of rows of all deletions
	gaps      []string // lines
	others    fold
	own       int    // number of rows of other effects that the change causes or may cause; they come first
	beyond    int    // number of rows of other effects that others does not have
	where     string // where the rows are that the note does not show
}

// newEffectsPart returns the effects of a report. Its title is "" if nobody looked for
// effects; then the list of actions says so.
func (n Note) newEffectsPart(rep *report.Report) effectsPart {
	e := rep.Effects
	if !e.Looked() {
		return effectsPart{}
	}
	deletions, others := e.Deletions(), e.Others()
	own := slices.IndexFunc(others, func(g report.EffectGroup) bool {
		return g.Since == plan.SinceBase || g.Since == plan.SinceGone
	})
	if own < 0 {
		own = len(others)
	}
	out := effectsPart{deleted: len(deletions), beyond: max(0, len(others)-maxEffects), own: own,
		where: "the report in JSON has them", sources: e.Sources()}
	if link := newLink("the full report", n.Links.Report); link != "" {
		out.where = link + " has them"
	}
	out.deletions = n.effectRows(rep, deletions, maxDeletions)
	out.others = fold{head: []string{"effect", "what", "from → to", "line", "says"},
		rows: n.effectRows(rep, others, maxEffects)}
	if len(others) > 0 {
		out.others.summary = strings.Join(countKinds(others), ", ")
	}
	for _, list := range e.GapLists() {
		for i, gap := range list.Gaps {
			if i == maxGaps {
				out.gaps = append(out.gaps, fmt.Sprintf("- %s: and %s", list.Title, phrase.Count(len(list.Gaps)-i, "more task")))
				break
			}
			out.gaps = append(out.gaps, fmt.Sprintf("- %s: %s, %s", list.Title, showName(gap.Name()), md.Escape(gap.Reason)))
		}
	}
	if note := e.UnlookedNote(showName); note != "" {
		out.gaps = append(out.gaps, "- "+note)
	}
	return out
}

// effectRows returns the first rows of a table of effects.
func (n Note) effectRows(rep *report.Report, groups []report.EffectGroup, most int) []string {
	var out []string
	for _, g := range groups[:min(len(groups), most)] {
		kind, what := md.Escape(string(g.Kind)), showName(g.What())
		if g.Kind == plan.EffectDelete && g.Since != plan.SinceGone {
			kind = bold(kind)
		}
		if remarks := g.Remarks(); remarks != "" {
			what += " " + md.Escape(remarks)
		}
		var fields []string
		for _, line := range g.Fields(maxChanged) {
			fields = append(fields, md.Code(line))
		}
		out = append(out, tableRow(kind, what, strings.Join(fields, "<br>"), rep.LineOf(g), showName(g.Where())))
	}
	return out
}

// countKinds returns how many effects of each kind there are, in the order of the groups.
func countKinds(groups []report.EffectGroup) []string {
	var names []string
	counts := map[string]int{}
	for _, g := range groups {
		name := g.Verb()
		if counts[name] == 0 {
			names = append(names, name)
		}
		counts[name] += g.Count
	}
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf("%d %s", counts[name], name))
	}
	return out
}

// effectsAction says in one line what the tasks would do, as far as that is known.
func effectsAction(rep *report.Report, before *run) string {
	e := rep.Effects
	all := rep.Counts.Tasks > 0 && rep.Counts.Passed == rep.Counts.Tasks
	switch {
	case e.Tasks == 0 && rep.Verdict == plan.VerdictPassed:
		return "- **Nothing was run:** no integration that is dry-run reads what changed."
	case e.Tasks == 0:
		return ""
	case !e.Looked() && all:
		return "- Every dry run passed. **What they would do is not known**, since the settings have no rules that find " +
			"effects."
	case !e.Looked():
		return "- **What the dry runs would do is not known**, since the settings have no rules that find effects."
	}
	then := before.effectsThen(e)
	switch {
	case e.Silent() && all:
		return "- Every dry run passed, and announces no effect" + then + "."
	case then != "":
		return "- The dry runs announced something else before" + then + "."
	}
	return "" // the title has the numbers
}

// effectsThen returns what the run before announced, if that is known and was something
// else.
func (r *run) effectsThen(now report.AllEffects) string {
	if r == nil || r.Effects == nil || *r.Effects == now.Counts {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", r.markdownName(), *r.Effects)
}

// renderEffects writes what the change does: deletions first, then what there is room for. It returns what writes the
// rest, folded.
func (c *content) renderEffects(p *page, q *quota) (rest func()) {
	e := c.effects
	deletions := e.deletions[:q.take(deletionRows, len(e.deletions))]
	others := e.others.rows[:q.take(otherEffects, len(e.others.rows))]
	room := max(openDeletions, maxOpenLines-p.lines()-tableLines-c.linesAfterEffects())
	open := deletions[:min(len(deletions), room)]
	own := max(0, min(len(others), e.own, openEffects, room-len(open)))
	if rows := slices.Concat(open, others[:own]); len(rows) > 0 {
		p.writeTable(e.others.head, rows)
		p.writeBlock(e.sources)
	}
	folded, others := deletions[len(open):], others[own:]
	if more := e.deleted - len(deletions); more > 0 && len(deletions)+q[summaries] > 0 {
		p.writeBlock(fmt.Sprintf("**And %s**; %s.", phrase.Count(more, "more deletion"), e.where))
	}
	more := len(e.others.rows) + e.beyond - own - len(others)
	return func() {
		if len(folded) > 0 {
			p.writeFold(phrase.Count(len(folded), "more deletion"), func() { p.writeTable(e.others.head, folded) })
		}
		switch {
		case len(others)+more == 0 || len(others)+q[summaries] == 0:
		case len(others) == 0:
			p.writeBlock(fmt.Sprintf("Besides deletions: %s; %s.", e.others.summary, e.where))
		default:
			p.writeFold("Besides deletions: "+e.others.summary, func() {
				p.writeTable(e.others.head, others)
				if more > 0 {
					p.writeBlock(fmt.Sprintf("And %s; %s.", phrase.Count(more, "more effect"), e.where))
				}
			})
		}
	}
}

// linesAfterEffects returns how many lines a person must see after the effects: what to do, what nobody knows, and
// what fails first.
func (c *content) linesAfterEffects() int {
	n := len(c.actions) + 1 + min(len(c.effects.gaps), openGaps) + 2 + len(c.warnings[:min(len(c.warnings), 3)])
	for _, s := range c.sections {
		if !s.isFolded && len(s.entries) > 0 {
			return n + s.entries[0].lines(false) + 5
		}
	}
	return n
}

// renderGaps writes what nobody knows. It returns what writes the rest, folded.
func (c *content) renderGaps(p *page, q *quota) (rest func()) {
	e := c.effects
	gaps := e.gaps[:q.take(gapLines, len(e.gaps))]
	open := gaps[:min(len(gaps), openGaps)]
	p.writeBlock(open...)
	if more := len(e.gaps) - len(gaps); more > 0 && len(open)+q[summaries] > 0 {
		p.writeBlock(fmt.Sprintf("And %s of what is not known; %s.", phrase.Count(more, "more line"), e.where))
	}
	return func() {
		if left := gaps[len(open):]; len(left) > 0 {
			p.writeFold(phrase.Count(len(left), "more line")+" of what is not known", func() { p.writeBlock(left...) })
		}
	}
}
