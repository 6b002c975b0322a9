package generic

import (
	"context"
	"encoding/json"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/fields"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// An entry is the body of an item: a resource with all that is needed to compare and write it.
type entry struct {
	of       *cloud.Resource
	family   *family.Family
	rules    rules.Rules // with what the resource says about its own body
	desired  any         // the body, without secrets
	children []string    // keys of the entries that stand in it

	// What complete fills in.
	key     []byte            // of the hashes of secrets; nil if there is none yet
	secrets map[string]string // values of secrets without a version, by place
	unknown []string          // places of secrets without a version whose value is not read
	// presence is what the last look at the service says.
	presence presence
	isDraft  bool // it is a part of a change that is not merged
	pending  pending
	now      time.Time

	// written is the resource as it was read after a write, nil if nothing was written.
	written any
	// leftOut is the places that the last plan leaves to other managers.
	leftOut []string
}

// item returns the item of a resource.
func (g *generic) item(ctx context.Context, r *cloud.Resource, children []reconcile.Key) reconcile.Item {
	it := reconcile.Item{Key: r.Key, Needs: r.Needs, Delete: r.Delete, Protected: r.Protected, Policy: r.Policy,
		Recover: r.OnSoftDeleted == "recover", Place: r.Place(), Mistake: reconcile.Mistake{Code: r.Mistake.Code,
			Message: r.Mistake.Message}}
	it.HowToAdopt = "import it with reconciler import generic " + r.Address.ID + ", or say adopt: if-exists"
	if r.Adopt != cloud.AdoptNever {
		it.Claim = reconcile.Adopt
	}
	e := &entry{of: r, family: g.Families(r.API.Family), desired: r.Body}
	if e.family != nil && e.family.Envelope != nil && r.Of != nil {
		e.desired = body.Merge(r.Body, e.family.Envelope(r.Of, r.Address))
	}
	it.Body = e
	for _, k := range children {
		e.children = append(e.children, string(k))
	}
	if it.Mistake != (reconcile.Mistake{}) {
		return it
	}
	fail := func(code plan.FindingCode, message string) reconcile.Item {
		it.Mistake = reconcile.Mistake{Code: code, Message: message}
		return it
	}
	var err error
	if e.rules, err = r.Rules(); err != nil {
		return fail(plan.FindingCode(openapi.CodeOf(err)), openapi.MessageOf(err))
	}
	if e.desired, err = g.Hooks.MutateDesired(ctx, e.forHooks(nil, nil)); err != nil {
		return fail(codeHook, err.Error())
	}
	return it
}

// The codes of findings that are made here.
const (
	codeHook   plan.FindingCode = "HOOK"      // a hook failed
	codeSecret plan.FindingCode = "SECRET"    // a secret cannot be read
	codeAbsent plan.FindingCode = "NOT_THERE" // adopt is required, and there is nothing
	codeKept   plan.FindingCode = "KEPT"      // it stays as it is for a while
	codeGoesOn                  = "operation" // what a change of a resource is named whose operation goes on
)

// forHooks returns what hooks are told of a resource, without what they can read.
func (e *entry) forHooks(applied, live any) hooks.Subject {
	return hooks.Subject{Type: e.of.TypeID(), ID: e.of.Address.ID, Applied: applied, Desired: e.desired, Live: live,
		OnSoftDeleted: e.of.OnSoftDeleted, Named: e.of.Hooks}
}

// MarshalJSON writes all of an entry that decides what is done with its resource.
func (e *entry) MarshalJSON() ([]byte, error) {
	r := e.of
	return json.Marshal(struct {
		Type, ID, Body               string
		Adopt                        cloud.Adopt
		AllowReplace                 bool           `json:",omitempty"`
		AllowUpdate, Ignore          []string       `json:",omitempty"`
		Exclusive, Hooks             []string       `json:",omitempty"`
		Secrets                      []cloud.Secret `json:",omitempty"`
		OnSoftDeleted, Specification string
	}{r.TypeID(), r.Address.ID, body.Canonical(e.desired), r.Adopt, r.AllowReplace, r.AllowUpdate, r.Ignore, r.Exclusive,
		r.Hooks,
		r.Secrets, r.OnSoftDeleted, r.Digest})
}

// target returns what requests are about.
func (e *entry) target() (rest.Target, error) {
	specs := e.of.API.Specs()
	c, err := specs.Classifier(e.of.Of)
	if err != nil {
		return rest.Target{}, err
	}
	defer specs.Lock()()
	t := rest.Target{Address: e.of.Address, Type: e.of.TypeID()}
	if t.Abilities, err = rest.AbilitiesOf(e.family, e.of.Of, c, specs.Locker()); err != nil {
		return rest.Target{}, err
	}
	t.Inline = rest.Inlines(e.of.Of, specs.Types(), c)
	return t, nil
}

// wanted returns the desired body to compare. A secret with a version has a stand-in: its version
// counts. The value of one without counts if it is known; else the place is not looked at.
func (e *entry) wanted() (any, rules.Rules, error) {
	if len(e.of.Secrets) == 0 {
		return e.desired, e.rules, nil
	}
	out, err := e.filled(func(s cloud.Secret) (string, bool, error) {
		if s.Secret.Version != "" {
			return rules.Hidden, true, nil
		}
		known, ok := e.secrets[s.At]
		return known, ok, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return out, rules.With(e.rules, rules.Overlay{Ignore: e.unknown}), nil
}

// full returns the desired body with all secrets.
func (e *entry) full(ctx context.Context, secret func(context.Context,
	integration.SecretRef) (string, error)) (any, error) {
	return e.filled(func(s cloud.Secret) (string, bool, error) {
		value, err := secret(ctx, s.Secret)
		if err == nil && s.Secret.Version == "" {
			if e.secrets == nil {
				e.secrets = map[string]string{}
			}
			e.secrets[s.At] = value
		}
		return value, true, err
	})
}

// filled returns the desired body with values of secrets.
func (e *entry) filled(value func(cloud.Secret) (string, bool, error)) (any, error) {
	of := *e.of
	of.Body = e.desired
	return of.Fill(e.rules, value)
}

// A record is what the state keeps of a resource that was applied.
type record struct {
	Body string `json:"body"` // JSON, with hashes in the place of secrets
	Type string `json:"type"`
	ID   string `json:"id"`
	URI  string `json:"uri"` // with the query
	// Digest is that of the data that were applied, without secrets.
	Digest string `json:"digest,omitempty"`
}

// remembers returns what the state keeps of an entry.
func remembers(v any) any {
	e, ok := v.(*entry)
	if !ok {
		return nil
	}
	out := record{Type: e.of.TypeID(), ID: e.of.Address.ID, URI: e.of.Address.URI(), Digest: body.Digest(e.desired)}
	if wanted, known, err := e.wanted(); err == nil {
		out.Body = body.Canonical(threeway.Remember(fields.Without(wanted, e.leftOut, known), known, e.key))
	}
	return out
}

// recordOf returns the record of what was applied, and the body; false if there is none.
func recordOf(last reconcile.Record) (record, any, bool) {
	var out record
	raw, err := json.Marshal(last.Applied)
	if err != nil || json.Unmarshal(raw, &out) != nil || out.Body == "" {
		return out, nil, false
	}
	v, err := body.Parse([]byte(out.Body))
	return out, v, err == nil
}
