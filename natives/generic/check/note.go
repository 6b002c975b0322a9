package check

import (
	"fmt"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/plan"
)

// notes adds what stays as it is whatever the data say, and the create-only values that the data
// did not have. Whether the resource has those is not known from the data.
func (p Pair) notes(made *threeway.Plan, isTold told, out *few) {
	for _, w := range made.Warnings {
		if out.isLong || isTold.has(w) {
			continue
		}
		f := p.violation(w, made.Action)
		isTold.add(f.Code, f.Property)
		out.add(f)
	}
	for _, c := range made.Changes {
		if out.isLong || c.FirstSet == "" || isTold.hasAt(CodeFirstSet, c.FirstSet) {
			continue
		}
		f := p.note(CodeFirstSet, c.FirstSet,
			"it can be set once: the service refuses it if the resource already has another value, which the data do not tell")
		isTold.add(f.Code, f.Property)
		out.add(f)
	}
}

// ignored adds values that the change edits and the entry ignores.
func (p Pair) ignored(out *few) {
	if len(p.Head.Ignore) == 0 {
		return
	}
	known := overlay(p.Types[len(p.Types)-1].Rules, p.Head)
	known.Ignore = nil
	t := p.Types[len(p.Types)-1] // of the version that head names
	for _, c := range p.planWith(rules.With(t.Rules, known), p.Head.Body).Changes {
		if !out.isLong && rules.Covers(p.Head.Ignore, c.Pattern, c.Path) {
			f := p.note(CodeIgnored, c.Path, "ignore has it, so it stays as it is live; the value in the data counts only if "+
				"the resource is created")
			f.From, f.To, f.hasChange = c.From, c.To, true
			out.add(f)
		}
	}
}

// unknown returns the values that nobody knows of a resource of somebody else that is taken: a request that replaces it
// lacks them. Servers of Kubernetes are sent what changes.
func (p Pair) unknown() []Finding {
	if p.Head.Of != nil && p.Head.Of.Family == resources.Kubernetes {
		return nil
	}
	desired, err := p.Head.Fill(p.Types[0].Rules, func(cloud.Secret) (string, bool, error) {
		return rules.Hidden, true, nil
	})
	if err != nil {
		return nil // a place is wrong, and told
	}
	var out few
	for _, w := range threeway.Unknown(rules.With(p.Types[0].Rules, overlay(p.Types[0].Rules, p.Head)), desired) {
		out.add(p.violation(w, threeway.Update))
	}
	return out.all(plan.SeverityNote)
}

// secrets returns the secrets of head that go nowhere: the body has no such item, or the type no such property.
func (p Pair) secrets() (out []Finding) {
	r := p.Types[len(p.Types)-1].Rules
	for i, s := range p.Head.Secrets {
		pointer := fmt.Sprintf("/secrets/%d/at", i)
		switch at := rules.Places(r, p.Head.Body, s.At); {
		case len(at) == 0:
			out = append(out, find(p.Head, cloud.CodeSecretPlace, plan.SeverityError, pointer,
				"the body has no such item; * is any item, and name=db one by its key"))
		case rules.Lacks(r, pattern(at[0])):
			out = append(out, find(p.Head, cloud.CodeSecretPlace, plan.SeverityError, pointer, "the type has no such property"))
		}
	}
	return out
}

// pattern returns the pattern of a place: * for each item.
func pattern(at rules.Spot) string {
	exact, named := jsonpointer.Split(at.Exact), jsonpointer.Split(at.Name)
	out := ""
	for i, part := range exact {
		if part != named[i] || named[i] == "*" {
			out += "/*"
			continue
		}
		out = jsonpointer.Append(out, part)
	}
	return out
}

// undescribed tells of an entry of a type of which the specification describes no property: nothing of its body is
// known.
func (c *checker) undescribed(r *cloud.Resource, types []*validate.Checker) {
	if len(types) == 0 {
		return
	}
	known, isClassified := types[len(types)-1].Rules.(*rules.Classified)
	if isClassified && !known.IsDescribed() {
		c.report.Findings = append(c.report.Findings, find(r, plan.FindingCode(openapi.CodeLoad), plan.SeverityWarning,
			"/type",
			"the specification describes no property of this type, so that nothing in body can be checked"))
	}
}

func (p Pair) note(code plan.FindingCode, path, message string) Finding {
	return Finding{Finding: plan.Finding{Code: code, Severity: plan.SeverityNote,
		Place: plan.Place{File: p.Head.File, Pointer: p.inFile(path)}, Message: message}, Resource: name(p.Head),
		Property: path}
}
