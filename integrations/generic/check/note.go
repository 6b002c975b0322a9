package check

import (
	"slices"

	"github.com/app-sre/prcheck/integrations/generic/rules"
	"github.com/app-sre/prcheck/integrations/generic/threeway"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/reconcile"
)

// ignored tells of values that the change edits and the entry ignores.
func (p Pair) ignored() []Finding {
	if len(p.Head.Ignore) == 0 {
		return nil
	}
	known := overlay(p.Head)
	known.Ignore = nil
	t := p.Types[len(p.Types)-1] // of the version that head names
	var out []Finding
	for _, c := range p.planWith(rules.With(t.Rules, known), p.Head.Body).Changes {
		if rules.Covers(p.Head.Ignore, c.Pattern, c.Path) {
			f := p.note(CodeIgnored, c.Path, "ignore has it, so it stays as it is live; the value in the data counts only if the resource is created")
			f.From, f.To, f.hasChange = c.From, c.To, true
			out = append(out, f)
		}
	}
	return out
}

// firstSet adds notes about create-only values that the data did not have. Whether the resource has
// them is not known from the data.
func (p Pair) firstSet(out []Finding, made *threeway.Plan) []Finding {
	for _, c := range made.Changes {
		isTold := slices.ContainsFunc(out, func(f Finding) bool { return f.Code == CodeFirstSet && f.Path == c.FirstSet })
		if c.FirstSet == "" || isTold {
			continue
		}
		out = append(out, p.note(CodeFirstSet, c.FirstSet,
			"it can be set once: the service refuses it if the resource already has another value, which the data do not tell"))
	}
	return out
}

func (p Pair) note(code reconcile.Code, path, message string) Finding {
	return Finding{Code: code, Severity: plan.SeverityNote, File: p.Head.File, Pointer: p.inFile(path), Resource: name(p.Head), Path: path, Message: message}
}
