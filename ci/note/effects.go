package note

import (
	"fmt"
	"strings"

	md "github.com/app-sre/prcheck/internal/markdown"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// The bounds of the effects that are shown, even if there is room for more.
const (
	maxDeletions = 500 // rows of deletions, which are not folded
	maxEffects   = 500 // rows of other effects, which are folded
	maxGaps      = 20  // tasks of which something is not known
)

// An effectsPart is what the tasks would do.
type effectsPart struct {
	title     string
	deletions []string // table rows
	deleted   int      // number of rows of all deletions
	gaps      []string // lines
	others    fold
	beyond    int    // number of rows of other effects that others does not have
	where     string // where the rows are that the note does not show
}

// newEffectsPart returns the effects of a report. Its title is "" if nobody looked for
// effects; then the list of actions says so.
func (n Note) newEffectsPart(e report.AllEffects) effectsPart {
	if !e.Looked() {
		return effectsPart{}
	}
	deletions, others := e.Deletions(), e.Others()
	out := effectsPart{title: "#### Effects", deleted: len(deletions), beyond: max(0, len(others)-maxEffects),
		where: "the report in JSON has them"}
	if link := newLink("the full report", n.Links.Report); link != "" {
		out.where = link + " has them"
	}
	out.deletions = effectRows(deletions, maxDeletions)
	out.others = fold{head: []string{"effect", "what", "announced by", ""}, rows: effectRows(others, maxEffects)}
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
func effectRows(groups []report.EffectGroup, most int) []string {
	var out []string
	for _, g := range groups[:min(len(groups), most)] {
		out = append(out, tableRow(md.Escape(string(g.Kind)), showName(g.What()), showName(g.Where()), g.Remarks()))
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
	text := e.SummaryWith(bold) + before.effectsThen(e)
	switch {
	case e.Silent() && all:
		return "- Every dry run passed, and announces no effect" + strings.TrimPrefix(text, "no effects announced") + "."
	case all:
		return "- Every dry run passed; they announce: " + text + "."
	}
	return "- The dry runs announce: " + text + "."
}

// effectsThen returns what the run before announced, if that is known and was something
// else.
func (r *run) effectsThen(now report.AllEffects) string {
	if r == nil || r.Effects == nil || *r.Effects == now.Counts {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", r.markdownName(), *r.Effects)
}

// renderEffects writes the effects: deletions and what is not known open, other effects
// folded.
func (c *content) renderEffects(p *page, q *quota) {
	e := c.effects
	deletions := e.deletions[:q.take(deletionRows, len(e.deletions))]
	gaps := e.gaps[:q.take(gapLines, len(e.gaps))]
	others := e.others.rows[:q.take(otherEffects, len(e.others.rows))]
	if len(deletions)+len(gaps)+len(others)+q[summaries] == 0 {
		return // the list of actions has the numbers
	}
	p.writeBlock(e.title)
	p.writeTable(e.others.head, deletions)
	if more := e.deleted - len(deletions); more > 0 {
		p.writeBlock(fmt.Sprintf("**And %s**; %s.", phrase.Count(more, "more deletion"), e.where))
	}
	p.writeBlock(gaps...)
	if more := len(e.gaps) - len(gaps); more > 0 {
		p.writeBlock(fmt.Sprintf("And %s of what is not known; %s.", phrase.Count(more, "more line"), e.where))
	}
	switch more := len(e.others.rows) + e.beyond - len(others); {
	case e.others.summary == "" || len(others)+q[summaries] == 0:
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
