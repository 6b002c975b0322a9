package proofs

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

//go:embed page.gohtml
var pageText string

// page is parsed when it is first used, since few commands write one.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"printable": report.Printable,
		"class": class}).Parse(pageText))
})

// HTML writes one page without a script: both sides, what differs, and a row for each
// integration that opens to the proof. Foreign text is escaped, and long lists are cut.
func HTML(w io.Writer, in Input) error {
	changed := groups(in.Plan.Changes)
	shown := changed[:min(len(changed), maxSchemas)]
	view := struct {
		Base, Head   plan.Side
		Config       string
		Server       string
		Summary      string
		Groups       []group
		MoreGroups   int
		Resources    names
		Types, Files names
		Rows         []row
		Assumed      []string
	}{
		Base: in.Plan.Base, Head: in.Plan.Head, Config: in.Plan.Config, Server: in.Server, Groups: shown,
		MoreGroups: len(changed) - len(shown),
		Resources:  bounded(resources(in.Plan.Changes), maxNames), Types: bounded(in.Plan.Changes.GraphQL, maxNames),
		Files: bounded(in.Plan.Changes.Schemas, maxNames), Rows: rows(in, changed), Assumed: assumed(in),
	}
	view.Summary = summary(view.Rows)
	var body strings.Builder
	if err := page().Execute(&body, view); err != nil {
		return err
	}
	return report.WritePage(w, "What is proven about the plan", template.HTML(body.String())) //nolint:gosec // a template has escaped it
}

// assumed says for how many skips something is assumed.
func assumed(in Input) []string {
	var out []string
	for _, a := range plan.Assumptions() {
		if n := in.Assumed[a]; n > 0 {
			out = append(out, a.Sentence(n))
		}
	}
	return out
}

// resources returns the changed resources.
func resources(c plan.Changes) []string {
	var out []string
	for _, r := range c.Resources {
		if r.Kind != plan.Metadata {
			out = append(out, fmt.Sprintf("%s (%s)", r.Path, r.Kind))
		}
	}
	return out
}

// summary counts the verdicts.
func summary(rows []row) string {
	n := map[Verdict]int{}
	for _, r := range rows {
		n[r.Verdict]++
	}
	return fmt.Sprintf("%s: %d proven, %d believed, %d refuted; of %d that run in full nothing is left out",
		phrase.Count(len(rows), "decision"), n[Proven], n[Believed], n[Refuted], n[Runs])
}

// class returns the style of a verdict.
func class(v Verdict) string {
	switch v {
	case Refuted:
		return "failed"
	case Believed:
		return "shards"
	case Runs:
		return "run"
	}
	return "skip"
}
