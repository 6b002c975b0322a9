package report_test

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// Skips that are only believed are counted apart, and what answers depend on beyond the
// allowed schemas is told, in text and Markdown.
func TestBelievedAndBeyond(t *testing.T) {
	p := &plan.Plan{Integrations: []plan.Decision{
		{Name: "a", Decision: plan.Skip, Rung: plan.RungSchema, Reason: "nothing it may read", Believed: true},
		{Name: "b", Decision: plan.Skip, Rung: plan.RungSchema, Reason: "nothing it may read"},
	}}
	if err := p.Seal(); err != nil {
		t.Fatal(err)
	}
	rep := report.New(p, &plan.Results{Plan: p.Digest, Observed: []plan.Observed{
		{Integration: "c", Beyond: []string{"/x-1.yml"}}, {Integration: "d", Read: []string{"/y-1.yml"}},
	}})
	if rep.Counts.Believed != 1 || !rep.Integrations[0].Believed || rep.Integrations[1].Believed {
		t.Errorf("got %+v", rep)
	}
	for name, write := range map[string]func(*strings.Builder) error{
		"text":     func(out *strings.Builder) error { return report.Text(out, rep, report.Style{Verbose: true}) },
		"markdown": func(out *strings.Builder) error { return report.Markdown(out, rep) },
	} {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"2 skipped (1 only believed)", "Not allowed, but depended on (1)", "/x-1.yml",
			"select the integration from now on"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", name, want, &out)
			}
		}
		if n := strings.Count(out.String(), "(believed)"); n != 1 {
			t.Errorf("%s: %d rows are marked as believed", name, n)
		}
	}
}
