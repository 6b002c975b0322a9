package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"strings"

	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/plan"
)

// A view is all that the template shows. Every text in it is harmless and
// bounded; the template escapes it.
type view struct {
	Policy               string
	Style, Early, Script template.HTML
	Icon                 template.URL

	Passed   bool
	Title    string // of the window
	Verdict  string
	Headline string
	Share    string
	Facts    []fact // what was compared
	Tiles    []tile

	UncheckedTitle, UncheckedNote string

	Failures      []failure
	MoreFailures  int
	Unchecked     []failure // their target was unavailable
	MoreUnchecked int
	Broken        []failure // on base, too
	MoreBroken    int
	Warnings      []string
	Funnel        []level
	Timeline      *timeline
	Rows          []row
	Choices       []choice
	Files         []file
	Changed       string   // all changes in one sentence
	Schemas       []string // JSON schemas that changed
	Types         []string // GraphQL types that changed
	ValuesNote    string   // why no values are shown
	Data          []datum  // for the script, one per row
}

// A tile is one number of the summary.
type tile struct{ Label, Value, Class string }

// A fact is one piece of evidence, or of the head.
type fact struct {
	Label  string
	Values []value
	Inline bool // many short values, side by side
}

// A value is one text of a fact. Href leads into the page.
type value struct {
	Text, Href string
	Code       bool
}

// A level is one rung of the funnel. The X and W are parts of the bar, in
// percent.
type level struct {
	Rung
	Question                                          string
	LeftW, RunX, RunW, ShardsX, ShardsW, SkipX, SkipW string
	Arrived                                           int
}

// A choice is one list of the filter.
type choice struct {
	Name, Label string
	Options     []option
}

// An option is one entry of a choice.
type option struct{ Value, Label string }

// A datum is what the script knows of a row beyond what it shows.
type datum struct {
	ID       string  `json:"id"`
	Name     string  `json:"n"`
	Decision string  `json:"d"`
	Rung     int     `json:"r"`
	Status   string  `json:"s"`
	Seconds  float64 `json:"t"`
	Words    string  `json:"w"` // found by the filter although the row does not show it
}

// icons are the sign in the tab of the browser.
var icons = map[bool]template.URL{
	true:  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%231a7f37'/%3E%3Cpath d='M4 8.5 7 11.5 12 5' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E",
	false: "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%23b3261e'/%3E%3Cpath d='M4.5 4.5l7 7m0-7l-7 7' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E",
}

// newView computes the page.
func newView(page Page) *view {
	rep, p := page.Report, page.Plan
	v := &view{
		Icon: icons[rep.Verdict == Passed], Passed: rep.Verdict == Passed,
		Verdict: strings.ToUpper(verdictWords(rep.Verdict)[:1]) + verdictWords(rep.Verdict)[1:], Headline: headline(rep), Share: share(rep.Counts),
		Facts: sides(p), Funnel: levels(rep), Timeline: newTimeline(rep), Choices: choices(rep), Changed: changed(p.Changes),
		Warnings: lines(rep.Warnings), Schemas: lines(p.Changes.Schemas), Types: lines(p.Changes.GraphQL),
	}
	v.Title = "prcheck " + verdictWords(rep.Verdict) + ": " + v.Headline
	v.Tiles = tiles(rep, len(p.Changes.Datafiles)+len(p.Changes.Resources), v.Timeline)
	links := newIndex(page)
	v.Rows, v.Data = rows(page, links)
	v.Files = links.files
	v.Failures, v.MoreFailures = failures("failure", rep.failures())
	v.Unchecked, v.MoreUnchecked = failures("unchecked", rep.unchecked())
	v.UncheckedTitle, v.UncheckedNote = uncheckedTitle, uncheckedNote
	v.Broken, v.MoreBroken = failures("broken", rep.broken())
	if page.Contents == nil && len(v.Files) > 0 {
		v.ValuesNote = "The bundles were not at hand when this report was written, so it names the fields that changed but not their values."
	}
	return v
}

// sides tells what was compared.
func sides(p *plan.Plan) []fact {
	one := func(label string, s plan.Side) fact {
		values := []value{{Text: line(s.Ref), Code: true}}
		if s.Commit != "" {
			values = append(values, value{Text: "commit " + short(s.Commit, 12)})
		}
		return fact{Label: label, Values: values}
	}
	return []fact{one("base", p.Base), one("head", p.Head), {Label: "plan", Values: []value{{Text: short(p.Digest, 19), Code: true}}}}
}

// short keeps the beginning of a digest.
func short(text string, runes int) string {
	all := []rune(line(text))
	if len(all) > runes {
		return string(all[:runes]) + "…"
	}
	return string(all)
}

func tiles(rep *Report, files int, t *timeline) []tile {
	c := rep.Counts
	all := []tile{
		{"integrations", fmt.Sprint(c.Integrations), ""}, {"to check", fmt.Sprint(c.Run + c.Shards), "run"},
		{"skipped", fmt.Sprint(c.Skip), "skip"}, {"tasks", fmt.Sprint(c.Tasks), ""}, {"passed", fmt.Sprint(c.Passed), "passed"},
	}
	if bad := c.bad() - c.Unavailable; bad > 0 {
		all = append(all, tile{"not passed", fmt.Sprint(bad), "failed"})
	}
	if c.Unavailable > 0 {
		all = append(all, tile{"not checked", fmt.Sprint(c.Unavailable), class(unavailable)})
	}
	if c.Baseline > 0 {
		all = append(all, tile{"broken on base", fmt.Sprint(c.Baseline), class(onBase)})
	}
	all = append(all, tile{"changed files", fmt.Sprint(files), ""})
	if t != nil {
		all = append(all, tile{"run time", t.Total, ""})
	}
	if c.Seconds > 0 {
		all = append(all, tile{"task time", seconds(c.Seconds), ""})
	}
	return all
}

func levels(rep *Report) []level {
	var out []level
	all := float64(max(rep.Counts.Integrations, 1))
	for _, r := range rep.funnel() {
		l := level{Rung: r, Question: question(r.Rung), Arrived: r.Run + r.Shards + r.Skip + r.Left}
		at := 0.0
		part := func(n int) (x, w string) {
			x, w = percent(at), percent(100*float64(n)/all)
			at += 100 * float64(n) / all
			return x, w
		}
		_, l.LeftW = part(r.Left)
		l.RunX, l.RunW = part(r.Run)
		l.ShardsX, l.ShardsW = part(r.Shards)
		l.SkipX, l.SkipW = part(r.Skip)
		out = append(out, l)
	}
	return out
}

func percent(n float64) string { return fmt.Sprintf("%.2f%%", n) }

func choices(rep *Report) []choice {
	decision := choice{"decision", "Decision", []option{{"run", "run"}, {"shards", "shards"}, {"skip", "skip"}}}
	rung := choice{"rung", "Decided at", nil}
	for i, r := range plan.Rungs() {
		rung.Options = append(rung.Options, option{fmt.Sprint(i), string(r)})
	}
	status := choice{"status", "Result", []option{{"bad", "not passed"}}}
	for _, s := range []plan.Status{plan.Passed, plan.Failed, plan.TimedOut, plan.Canceled, plan.NotRun, unavailable, onBase} {
		if s == onBase && rep.Counts.Baseline == 0 || s == unavailable && rep.Counts.Unavailable == 0 {
			continue
		}
		status.Options = append(status.Options, option{string(s), spaced(s)})
	}
	if rep.Counts.Tasks == 0 {
		return []choice{decision, rung}
	}
	return []choice{decision, rung, status}
}

func spaced(s plan.Status) string { return line(strings.ReplaceAll(string(s), "_", " ")) }

// lines makes many texts harmless.
func lines(texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, line(text))
	}
	return out
}

// maxAnchor is the size of a name, in bytes, above which its digest is the anchor.
const maxAnchor = 201

// anchor returns the id of the HTML element of an integration. A name that is not
// plain, or too long, is replaced by its digest. A plain name never looks like one.
func anchor(name string) string {
	if len(name) <= maxAnchor && names.IsPlain(name) {
		return "integration-" + name
	}
	sum := sha256.Sum256([]byte(name))
	return "integration~" + hex.EncodeToString(sum[:8])
}

// class names how something looks: one of the words that the style knows.
func class[T ~string](word T) string {
	switch string(word) {
	case "run", "shards", "skip", "passed", "failed", "timed_out", "canceled", "not_run", string(onBase), string(unavailable), "added", "removed", "modified", "metadata":
		return string(word)
	}
	return "other"
}

// shown returns a text that always shows something.
func shown(text string) string { return cmp.Or(line(text), "(no visible name)") }
