package check_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// An entry is a resource of the cases.
type entry struct {
	File, Name, Type, Parent, ResourceID, Policy, Adopt string
	Body                                                json.RawMessage
	Delete, Protected, AllowReplace                     bool
	AllowUpdate, Ignore, Exclusive                      []string
	Secrets                                             []struct{ At string }
}

func (e entry) resource(t *testing.T) *cloud.Resource {
	t.Helper()
	out := &cloud.Resource{
		File: e.File, Name: e.Name, Type: e.Type, Parent: e.Parent, ResourceID: e.ResourceID, Adopt: cloud.Adopt(e.Adopt),
		Delete: e.Delete, Protected: e.Protected, AllowReplace: e.AllowReplace, AllowUpdate: e.AllowUpdate, Ignore: e.Ignore,
		Exclusive: e.Exclusive,
	}
	for _, s := range e.Secrets {
		out.Secrets = append(out.Secrets, cloud.Secret{At: s.At})
	}
	if e.Policy != "manage" {
		out.Policy = reconcile.Policy(e.Policy)
	}
	plain, _, _ := strings.Cut(e.Type, "@")
	id := e.ResourceID
	if id == "" {
		id = e.Parent + "/" + plain + "/" + e.Name
	}
	out.Key = reconcile.Key(strings.ToLower(id))
	if e.Body != nil {
		var err error
		if out.Body, err = body.Parse(e.Body); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// stand finds the entries in which others stand, by the id or the name of the parent.
func stand(m *cloud.Model) {
	for _, r := range m.Resources {
		for _, around := range m.Resources {
			if r != around && (strings.EqualFold(r.Parent, string(around.Key)) || r.Parent == around.Name) {
				r.Around = around.Key
			}
		}
	}
}

// severities are the words of the cases for severities.
var severities = map[plan.Severity]string{plan.SeverityError: "error", plan.SeverityWarning: "warning",
	plan.SeverityNote: "info"}

func TestOfflineCheckCases(t *testing.T) {
	type checkCase struct {
		Input struct {
			Base, Head []entry
			Rules      rules.Table
		}
		Expected struct {
			Findings []struct {
				Code, Severity, Path string
				From, To             json.RawMessage
				Old                  bool
			}
		}
	}
	shared.Each(t, "offline_check", func(t *testing.T, c checkCase) {
		base, head := &cloud.Model{}, &cloud.Model{}
		for _, e := range c.Input.Base {
			base.Resources = append(base.Resources, e.resource(t))
		}
		for _, e := range c.Input.Head {
			head.Resources = append(head.Resources, e.resource(t))
		}
		for _, m := range []*cloud.Model{base, head} {
			stand(m)
		}
		got := check.WithType(base, head, &validate.Checker{Rules: c.Input.Rules}).Findings
		if len(got) != len(c.Expected.Findings) {
			t.Fatalf("got %+v, want %+v", got, c.Expected.Findings)
		}
		for i, want := range c.Expected.Findings {
			f := got[i]
			if string(f.Code) != want.Code || severities[f.Severity] != want.Severity || f.Property != want.Path ||
				f.Old != want.Old {
				t.Errorf("got %+v, want %+v", f, want)
			}
			for _, v := range []struct {
				want json.RawMessage
				got  any
			}{{want.From, f.From}, {want.To, f.To}} {
				if v.want == nil {
					continue
				}
				if parsed, err := body.Parse(v.want); err != nil || body.Canonical(parsed) != body.Canonical(v.got) {
					t.Errorf("%s: got the value %v, want %s", f.Property, v.got, v.want)
				}
			}
		}
	})
}
