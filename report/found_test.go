package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// foundResults returns results with findings: a task fails because of two of them, one passed
// with a warning, one has only what base has as well.
func foundResults(p *plan.Plan) *plan.Results {
	rs := passedResults(p)
	twice := plan.Finding{Code: "DUPLICATE", Severity: plan.SeverityError,
		Place: plan.Place{File: "/users/ana.yml", Pointer: "/roles/1"}, Message: "two entries have the key ana/dev"}
	rs.Results[1].Status, rs.Results[1].Class, rs.Results[1].ExitCode, rs.Results[1].Tail = plan.Failed, plan.ClassConfig,
		-1, "create user <ana>"
	rs.Results[1].Reason = "2 mistakes in the data, the first: DUPLICATE: /users/ana.yml#/roles/1: two entries have the key ana/dev"
	rs.Results[1].Findings = []plan.Finding{twice,
		{Code: "VAL_TYPE", Severity: plan.SeverityError, Place: plan.Place{File: "/users/ana.yml", Pointer: "/delete"},
			Message: "delete must be a bool, not \"yes\""},
		{Severity: plan.SeverityNote, Message: "3 entries are <not> compared"},
		{Code: "VAL_TYPE", Severity: plan.SeverityError, Place: plan.Place{File: "/users/joe.yml"}, Message: "an old mistake",
			Old: true}}
	rs.Results[2].Findings = []plan.Finding{
		{Code: "FORGOTTEN", Severity: plan.SeverityWarning, Place: plan.Place{File: "/users/ana.yml", Pointer: "/roles"},
			Message: "this change removes the entry dev, and then nobody deletes it: say `delete: true` first"},
		{Severity: plan.SeverityWarning, Message: "::error::*x* <b>| [a](b) @all /lgtm"}}
	rs.Results[2].FindingsBeyond = 7
	rs.Results[3].Findings = []plan.Finding{{Code: "FINISHED", Severity: plan.SeverityNote,
		Message: "the entry can be removed", Old: true}}
	return rs
}

func TestFindings(t *testing.T) {
	p := change(t)
	rep, located := report.New(p, foundResults(p)), report.New(p, foundResults(p))
	located.Locate(locator{})
	tests := map[string]func(io.Writer) error{
		"found.txt":   func(w io.Writer) error { return report.Text(w, rep, report.Style{}) },
		"found.color": func(w io.Writer) error { return report.Text(w, located, report.Style{Color: true}) },
		"found.md":    func(w io.Writer) error { return report.Markdown(w, located) },
		"found.json":  func(w io.Writer) error { return report.JSON(w, located) },
		"found.html":  func(w io.Writer) error { return report.HTML(w, report.Page{Plan: p, Report: located}) },
		"found.junit": func(w io.Writer) error { return report.JUnit(w, report.Input{Plan: p, Report: located}) },
		"found.codequality": func(w io.Writer) error {
			return report.CodeQuality(w, report.Input{Plan: p, Report: rep, Locator: locator{}})
		},
		"found.metrics": func(w io.Writer) error { return report.Metrics(w, report.Input{Plan: p, Report: rep}) },
	}
	for name, render := range tests {
		t.Run(name, func(t *testing.T) { compareGolden(t, name, render) })
	}
}

// The JSON report has each finding once, with its line, and can be read again.
func TestFindingsInJSON(t *testing.T) {
	p := change(t)
	rep := report.New(p, foundResults(p))
	rep.Locate(locator{})
	var out bytes.Buffer
	if err := report.JSON(&out, rep); err != nil {
		t.Fatal(err)
	}
	var again report.Report
	if err := json.Unmarshal(out.Bytes(), &again); err != nil {
		t.Fatal(err)
	}
	if got, want := again.Results[1].Findings, rep.Results[1].Findings; !slices.Equal(got, want) || want[0].Line != 9 ||
		want[0].Path != "sub/data/users/ana.yml" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := strings.Count(out.String(), "two entries have the key"); n != 2 { // in the reason and in the finding
		t.Errorf("the report tells the finding %d times", n)
	}
}

// The fingerprint of a finding does not depend on its line or on the task, and findings that
// base has have no issue.
func TestFindingIssues(t *testing.T) {
	p := change(t)
	rs := foundResults(p)
	rs.Results[3].Findings = append(rs.Results[3].Findings, plan.Finding{Severity: plan.SeverityNote, Message: "new"})
	_, before := readCodeQuality(t, report.Input{Plan: p, Report: report.New(p, rs)})
	_, after := readCodeQuality(t, report.Input{Plan: p, Report: report.New(p, rs), Locator: locator{}})
	prints := func(list []issue) (out []string) {
		for _, i := range list {
			out = append(out, *i.Fingerprint)
		}
		return out
	}
	if got, want := prints(after), prints(before); !slices.Equal(got, want) {
		t.Errorf("other lines, other fingerprints: %q, %q", got, want)
	}
	for _, i := range after {
		if strings.Contains(*i.Description, "old mistake") || strings.Contains(*i.Description, "can be removed") {
			t.Errorf("base has it as well: %+v", i)
		}
	}
	rs.Results[2].Findings = rs.Results[1].Findings[2:3] // the same integration
	if _, list := readCodeQuality(t, report.Input{Plan: p, Report: report.New(p, rs)}); len(list) != len(before)-2 {
		t.Errorf("got %d issues, want %d", len(list), len(before)-2)
	}
	rs.Results[1].Findings[1].Message = "another"
	_, other := readCodeQuality(t, report.Input{Plan: p, Report: report.New(p, rs)})
	if slices.Equal(prints(other), prints(before)) {
		t.Error("another message has the same fingerprint")
	}
}

// Tasks are grouped as one failure only if their findings are the same.
func TestGroupsOfFindings(t *testing.T) {
	failed := func(id string, found ...plan.Finding) report.TaskResult {
		r := report.New(&plan.Plan{Tasks: []plan.Task{{ID: id, Integration: "it"}}}, &plan.Results{Results: []plan.Result{
			{Task: id, Status: plan.Failed, Class: plan.ClassConfig, Reason: "shard 1 is wrong", Findings: found}}})
		return r.Results[0]
	}
	a, b := plan.Finding{Severity: plan.SeverityError, Place: plan.Place{File: "/1.yml"}, Message: "m"},
		plan.Finding{Severity: plan.SeverityError, Place: plan.Place{File: "/2.yml"}, Message: "m"}
	if groups := report.GroupFailures([]report.TaskResult{failed("x", a), failed("y", a),
		failed("z", b)}); len(groups) != 2 || len(groups[0]) != 2 {
		t.Errorf("got %d groups", len(groups))
	}
}

// However many findings there are, reports stay readable, and say how many are missing.
func TestManyFindings(t *testing.T) {
	var many []plan.Finding
	for i := range plan.MaxFindings {
		many = append(many,
			plan.Finding{Severity: plan.SeverityWarning,
				Place: plan.Place{File: "/users/ana.yml", Pointer: fmt.Sprintf("/%03d", i)}, Message: strings.Repeat("long ", 59)})
	}
	p := &plan.Plan{}
	rs := &plan.Results{}
	for i := range 1000 {
		id := fmt.Sprintf("it/%d", i)
		p.Tasks = append(p.Tasks, plan.Task{ID: id, Integration: "it", Shard: fmt.Sprint(i), Native: true, Timeout: "1m0s"})
		rs.Results = append(rs.Results, plan.Result{Task: id, Status: plan.Passed, Attempts: 1, Findings: many,
			FindingsBeyond: 5})
	}
	p.Integrations = []plan.Decision{{Name: "it", Decision: plan.Run, Rung: plan.RungSchema, Reason: "r"}}
	for _, task := range p.Tasks {
		p.Integrations[0].Tasks = append(p.Integrations[0].Tasks, task.ID)
	}
	seal(t, p)
	rs.Plan = p.Digest
	rep := report.New(p, rs)
	rep.Locate(locator{})
	in := report.Input{Plan: p, Report: rep, Locator: locator{}}
	for name, c := range map[string]struct {
		render func(io.Writer) error
		want   string
		most   int
	}{
		"text": {func(w io.Writer) error { return report.Text(w, rep, report.Style{}) }, "and 185 more findings",
			2 << 20},
		"markdown": {func(w io.Writer) error { return report.Markdown(w, rep) }, "and 185 more findings", 2 << 20},
		"html": {func(w io.Writer) error { return report.HTML(w, report.Page{Plan: p, Report: rep}) },
			"and 185 more findings", 4 << 20},
		"junit":        {func(w io.Writer) error { return report.JUnit(w, in) }, "it/", 15 << 20},
		"code quality": {func(w io.Writer) error { return report.CodeQuality(w, in) }, "long", 2 << 20},
	} {
		var out bytes.Buffer
		if err := c.render(&out); err != nil || out.Len() > c.most ||
			name != "junit" && !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got %d bytes, %v", name, out.Len(), err)
		}
	}
}
