package launch

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/runner/findings"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/wrapper"
)

// A reporter is a native integration that reports findings.
type reporter struct {
	native
	findings []plan.Finding
	failure  error
	late     func(report func()) // gets a report after the dry run
}

func (r reporter) DryRun(_ context.Context, env integration.Environment) error {
	for _, f := range r.findings {
		env.Report(integration.Remark{Finding: f})
	}
	if r.late != nil {
		r.late(func() { env.Report(integration.Remark{Finding: plan.Finding{Message: "late"}}) })
	}
	return r.failure
}

// A finding that is an error and not old fails the task, as one of the data.
func TestFindingsFailTask(t *testing.T) {
	base, head, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	open, err := Equipment{Base: base, Head: head, Settings: &settings.Settings{},
		Observe: func(string) func(server.Exchange) { return nil }}.endpoints()
	if err != nil {
		t.Fatal(err)
	}
	ofData := plan.Finding{Code: "TYPE", Severity: plan.SeverityError, Place: plan.Place{File: "/a.yml", Pointer: "/x"},
		Message: "no number"}
	ofTarget := plan.Finding{Code: "UNREACHABLE", Severity: plan.SeverityError, Message: "connection refused"}
	down := integration.Failure(integration.FailureTransient, errors.New("harbor: connection refused"))
	broken := errors.New("a bug")
	old, warning := plan.Finding{Severity: plan.SeverityError, Message: "m", Old: true},
		plan.Finding{Severity: plan.SeverityWarning, Message: "m"}
	for name, c := range map[string]struct {
		findings    []plan.Finding
		failure     error
		want, class string
	}{
		"nothing":                  {nil, nil, "", ""},
		"nothing that fails":       {[]plan.Finding{old, warning}, nil, "", ""},
		"a mistake":                {[]plan.Finding{warning, ofData}, nil, "TYPE: /a.yml#/x: no number", "config"},
		"a finding without a file": {[]plan.Finding{ofTarget}, nil, "UNREACHABLE: connection refused", "config"},
		"the error again": {[]plan.Finding{ofTarget, warning}, down, "harbor: connection refused",
			"transient"},
		"another finding than the error": {[]plan.Finding{ofTarget}, broken, "UNREACHABLE: connection refused\na bug", ""},
		"a mistake, and a target is down": {[]plan.Finding{ofData}, down,
			"TYPE: /a.yml#/x: no number\nharbor: connection refused", "config"},
		"only an error": {[]plan.Finding{warning}, broken, "a bug", ""},
	} {
		t.Run(name, func(t *testing.T) {
			collection := findings.New(mask.New(nil), nil)
			var late func()
			n := reporter{native{name: "it"}, c.findings, c.failure, func(report func()) { late = report }}
			all := runner{process: wrapper.Process{Open: open}, Equipment: Equipment{
				Settings: &settings.Settings{}, Natives: []integration.DryRunner{n},
				Findings: func(plan.Task) *findings.Collection { return collection }}}
			err := all.Run(t.Context(), plan.Task{ID: "it", Integration: "it", Native: true}, io.Discard)
			var config *wrapper.ConfigError
			var transient *wrapper.TransientError
			class, text := "", ""
			switch {
			case errors.As(err, &config):
				class = "config"
			case errors.As(err, &transient):
				class = "transient"
			}
			if err != nil {
				text = err.Error()
			}
			if text != c.want || class != c.class || c.failure != nil && !errors.Is(err, c.failure) {
				t.Errorf("got %q of class %q, want %q of class %q", text, class, c.want, c.class)
			}
			late()
			if found, beyond := collection.Findings(); len(found) != len(c.findings) || beyond > 0 {
				t.Errorf("got %+v", found)
			}
			all.Findings = nil
			if again := all.Run(t.Context(), plan.Task{ID: "it", Integration: "it", Native: true},
				io.Discard); again == nil != (err == nil) || err != nil && again.Error() != text {
				t.Errorf("without somebody who keeps findings: got %v", again)
			}
		})
	}
}
