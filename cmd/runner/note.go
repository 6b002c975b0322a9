package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// noteFor returns the note that shows a plan and its results.
//
// PLACEHOLDER: the report behind a marker. Package note takes its place.
func noteFor(tool string, at ci.Environment, p *plan.Plan, results *plan.Results) ci.Note {
	return reportNote{tool, at.Generation, p, results}
}

// reportNote is the report behind a marker.
type reportNote struct {
	tool       string
	generation int64
	plan       *plan.Plan
	results    *plan.Results
}

func (n reportNote) Marker() string { return "<!-- prcheck:" + n.tool + " " }

func (n reportNote) Generation(body string) (int64, bool) {
	rest, ok := strings.CutPrefix(body, n.Marker())
	word, _, closed := strings.Cut(rest, " -->")
	g, err := strconv.ParseInt(word, 10, 64)
	return g, ok && closed && err == nil
}

func (n reportNote) Body(string) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "%s%d -->\n", n.Marker(), n.generation)
	err := report.Markdown(&out, report.New(n.plan, n.results))
	return out.String(), err
}
