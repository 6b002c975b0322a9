package plan_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

// Results keep their findings when they are written and read, and only findings that a runner
// writes are read.
func TestFindingsOfResults(t *testing.T) {
	good := plan.Finding{Code: "DUPLICATE", Severity: plan.SeverityWarning,
		Place: plan.Place{File: "/a.yml", Pointer: "/x/0"}, Message: "two entries", Old: true}
	change := func(edit func(f *plan.Finding)) []plan.Finding {
		f := good
		edit(&f)
		return []plan.Finding{f}
	}
	for name, c := range map[string]struct {
		findings []plan.Finding
		beyond   int
		status   plan.Status
		want     string // in the error
	}{
		"none":           {nil, 0, plan.Passed, ""},
		"a finding":      {[]plan.Finding{good}, 3, plan.Passed, ""},
		"only a message": {[]plan.Finding{{Severity: plan.SeverityNote, Message: "m"}}, 0, plan.Failed, ""},
		"an error": {change(func(f *plan.Finding) { f.Severity, f.Old = plan.SeverityError, false }), 0, plan.Failed,
			""},
		"an error, passed": {change(func(f *plan.Finding) { f.Severity, f.Old = plan.SeverityError, false }), 0, plan.Passed,
			"contradicts itself"},
		"an old error": {change(func(f *plan.Finding) { f.Severity = plan.SeverityError }), 0, plan.Passed, ""},
		"a severity": {change(func(f *plan.Finding) { f.Severity = "fatal" }), 0, plan.Passed,
			`findings[0]: the severity is "fatal"`},
		"a code": {change(func(f *plan.Finding) { f.Code = "a b" }), 0, plan.Passed, `the code "a b"`},
		"no message": {change(func(f *plan.Finding) { f.Message = "" }), 0, plan.Passed,
			"the message must be one line"},
		"two lines": {change(func(f *plan.Finding) { f.Message = "a\nb" }), 0, plan.Passed,
			"the message must be one line"},
		"a long message": {change(func(f *plan.Finding) { f.Message = strings.Repeat("ü", 301) }), 0, plan.Passed,
			"at most 300 characters"},
		"a long file": {change(func(f *plan.Finding) { f.File = "/" + strings.Repeat("x", 1000) }), 0, plan.Passed,
			"at most 1000 bytes"},
		"a relative file":   {change(func(f *plan.Finding) { f.File = "a.yml" }), 0, plan.Passed, "must begin with a slash"},
		"no pointer":        {change(func(f *plan.Finding) { f.Pointer = "x" }), 0, plan.Passed, "must begin with a slash"},
		"no file":           {change(func(f *plan.Finding) { f.File = "" }), 0, plan.Passed, "no file"},
		"too many":          {make([]plan.Finding, plan.MaxFindings+1), 0, plan.Passed, "201 findings"},
		"fewer than no one": {nil, -1, plan.Passed, "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			result := plan.Result{Task: "a", Status: c.status, Findings: c.findings, FindingsBeyond: c.beyond}
			in := &plan.Results{Version: plan.Version, Plan: "sha256:1", Results: []plan.Result{result}}
			var raw bytes.Buffer
			err := plan.WriteResults(&raw, in)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			out, err := plan.ReadResults(&raw)
			if err != nil || !reflect.DeepEqual(out, in) {
				t.Errorf("got %+v, %v, want %+v", out, err, in)
			}
			merged, err := plan.MergeResults(&plan.Plan{Digest: "sha256:1", Tasks: []plan.Task{{ID: "a"}}}, out)
			if err != nil || !reflect.DeepEqual(merged.Results[0], result) {
				t.Errorf("merged: got %+v, %v", merged, err)
			}
		})
	}
}
