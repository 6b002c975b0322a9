package generic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/generic/fields"
	"github.com/app-sre/prcheck/natives/generic/hooks"
	"github.com/app-sre/prcheck/natives/generic/operation"
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
	// unvouched says why nobody asks for its resource before the merge of a change, "" if somebody does.
	unvouched string
	pending   pending
	now       time.Time

	// taken is the values of other resources that are known, by their places, and unstored the places of its own that the
	// store of secrets lacks.
	taken    map[string]any
	unstored []string
	// at is where the resource was found whose id the service gives.
	at *foundAt
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
	e := &entry{of: r, family: g.Families(r.API.Family), desired: r.Body, at: &foundAt{}}
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
		Taken                        []string       `json:",omitempty"`
		OnSoftDeleted, Specification string
	}{r.TypeID(), r.Address.ID, body.Canonical(e.desired), r.Adopt, r.AllowReplace, r.AllowUpdate, r.Ignore, r.Exclusive,
		r.Hooks,
		r.Secrets, r.TakenFrom(), r.OnSoftDeleted, r.Digest})
}

// target returns what requests are about.
func (e *entry) target() (rest.Target, error) {
	specs := e.of.API.Specs()
	c, err := specs.Classifier(e.of.Of)
	if err != nil {
		return rest.Target{}, err
	}
	defer specs.Lock()()
	t := rest.Target{Address: e.of.Address, Type: e.of.TypeID(), Plain: e.of.Plain}
	if t.Abilities, err = rest.AbilitiesOf(e.family, e.of.Of, c, specs.Locker()); err != nil {
		return rest.Target{}, err
	}
	t.Inline = rest.Inlines(e.of.Of, specs.Types(), c)
	return t, nil
}

// wanted returns the desired body to compare. A secret with a version has a stand-in: its version
// counts. The value of one without counts if it is known; else the place is not looked at.
func (e *entry) wanted() (any, rules.Rules, error) {
	taken, unknown, err := e.withTaken(e.desired)
	if err != nil {
		return nil, nil, err
	}
	if len(e.of.Secrets) == 0 {
		return taken, rules.With(e.rules, rules.Overlay{Ignore: unknown}), nil
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
	return out, rules.With(e.rules, rules.Overlay{Ignore: append(unknown, e.unknown...)}), nil
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
	var err error
	if of.Body, _, err = e.withTaken(e.desired); err != nil {
		return nil, err
	}
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
	// Envelope is the member of answers in which the resource stands, "" if they are it.
	Envelope string `json:"envelope,omitempty"`
}

// remembers returns what the state keeps of an entry.
func remembers(v any) any {
	e, ok := v.(*entry)
	if !ok {
		return nil
	}
	at := e.address()
	out := record{Type: e.of.TypeID(), ID: e.of.Address.ID, URI: at.URI(), Digest: body.Digest(e.desired)}
	if e.of.Plain != nil {
		out.Envelope = e.of.Plain.Answer
	}
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

// A found is the body of a thing.
type found struct {
	live   rest.Live
	leaves []hooks.Leave // what hooks leave as it is
}

// plan makes the plan of an entry.
func (e *entry) plan(applied any, wasApplied bool, is found, key []byte) (*threeway.Plan, error) {
	wanted, known, err := e.wanted()
	if err != nil {
		return nil, err
	}
	return e.make(e.input(wanted, known, applied, wasApplied, is, key)).Plan, nil
}

// make makes a plan, and notes what it leaves to other managers.
func (e *entry) make(in threeway.Input) fields.OwnedPlan {
	p := e.planOf(in)
	e.leftOut = p.LeftOut
	return p
}

// planOf makes a plan, with the managers of fields where the service knows them.
func (e *entry) planOf(in threeway.Input) fields.OwnedPlan {
	if e.family.FieldManager == "" {
		return fields.OwnedPlan{Plan: threeway.Make(in), Apply: in.Desired}
	}
	return fields.Make(in, e.family.FieldManager)
}

func (e *entry) input(wanted any, known rules.Rules, applied any, wasApplied bool, is found,
	key []byte) threeway.Input {
	var ignore []string
	for _, l := range is.leaves {
		ignore = append(ignore, l.At)
	}
	known = rules.Secret(known, threeway.Traced(applied)) // the data may no longer say so
	live := is.live.Body
	if e.of.Plain != nil {
		live = e.of.Plain.Alike(live, wanted)
	}
	return threeway.Input{
		Applied: applied, WasApplied: wasApplied, Desired: wanted, Live: live, IsThere: is.live.Found,
		Rules: rules.With(known, rules.Overlay{Ignore: ignore, Unread: e.unread(is)}), AllowReplace: e.of.AllowReplace,
		AllowUpdate: e.of.AllowUpdate,
		Children:    e.children, Key: key,
	}
}

// unread returns the places of secrets that the service does not answer. Comparing them with what
// is there would find a difference for ever.
func (e *entry) unread(is found) []string {
	var out []string
	for _, s := range e.of.Secrets {
		for _, at := range rules.Places(e.rules, e.desired, s.At) {
			if is.live.Found && !e.answers(is.live.Body, at.Name) {
				out = append(out, at.Name)
			}
		}
	}
	return out
}

// answers reports whether a live body has a value at a place, whose items are named by their keys.
func (e *entry) answers(live any, name string) bool {
	return slices.ContainsFunc(rules.Places(e.rules, live, name), func(at rules.Spot) bool {
		_, isThere := body.Get(live, at.Exact)
		return isThere
	})
}

// compare returns how a resource differs from its entry.
func compare(want reconcile.Item, is reconcile.Thing, last reconcile.Record) (reconcile.Difference, error) {
	e, isEntry := want.Body.(*entry)
	thing, isFound := is.Body.(found)
	if !isEntry || !isFound {
		return reconcile.Difference{}, fmt.Errorf("an item has %T, and a thing has %T", want.Body, is.Body)
	}
	record, applied, wasApplied := recordOf(last)
	if e.of.Plain != nil {
		thing.live.Body = e.of.Plain.Marks.Strip(thing.live.Body)
		wasApplied = wasApplied && (!e.of.IsSought || record.URI == e.address().Path) // else it is another resource
	}
	if !wasApplied && e.pending.Intended { // it was created, and the process ended before it was remembered
		applied, wasApplied = e.pending.applied()
	}
	p, err := e.plan(applied, wasApplied, thing, e.key)
	if err != nil {
		return reconcile.Difference{}, err
	}
	d := reconcile.Difference{Changes: changesOf(p), Replace: p.Action == threeway.Replace}
	switch {
	case p.Action != threeway.Blocked:
	case e.isDraft && isDrift(p.Violations): // the change did not cause it
		d.Warnings = append(d.Warnings, "somebody changed what cannot be changed: "+mistakeOf(p.Violations).Message)
	default:
		d.Mistake = mistakeOf(p.Violations)
	}
	for _, w := range p.Warnings {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%s %s: %s", w.Code, w.Path, w.Message))
	}
	if p.Action == threeway.None {
		e.compareState(thing.live.Body, &d)
	}
	if p.Action == threeway.None || p.Action == threeway.Update {
		d.Changes = append(d.Changes, e.notTaken()...)
	}
	return d, nil
}

// compareState adds what is to be done with a resource that is as the data say, because of an operation that goes on or
// failed. Before the merge of a change it is told alone.
func (e *entry) compareState(live any, d *reconcile.Difference) {
	stands := standing{}
	if e.family.HasOperations {
		stands = standingOf(live, e.pending)
	}
	o := e.pending.Operation
	switch {
	case o != nil:
		d.Changes = []reconcile.Change{{Path: codeGoesOn, New: "the " + o.Verb + " of an earlier run goes on"}}
	case e.isDraft && stands.isFailed:
		d.Warnings = append(d.Warnings, string(codeFailed)+": "+stands.message)
	case e.isDraft:
	case stands.isFailed && e.now.Before(stands.next):
		d.Mistake = stands.mistake()
	case stands.isFailed:
		d.Changes = []reconcile.Change{{Path: pathState, Old: "failed", New: "sent again", Reason: string(threeway.Failed)}}
	case e.family.HasOperations && operation.IsGoingOn(live):
		d.Changes = []reconcile.Change{{Path: codeGoesOn, New: "an operation of the service goes on"}}
	}
}

// isDrift reports whether the data are as they were applied where the violations are.
func isDrift(all []threeway.Objection) bool {
	return !slices.ContainsFunc(all, func(f threeway.Objection) bool { return f.Reason != threeway.Drift })
}

// changesOf returns the changes of a plan for people.
func changesOf(p *threeway.Plan) []reconcile.Change {
	var out []reconcile.Change
	for _, c := range p.Changes {
		change := reconcile.Change{Path: c.Path, Reason: string(c.Reason), From: asJSON(c.From), To: asJSON(c.To),
			Secret: c.From == rules.Hidden || c.To == rules.Hidden}
		change.Old, change.New = show(c.From), show(c.To)
		out = append(out, change)
	}
	return out
}

// asJSON returns a value as JSON, nil for none.
func asJSON(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	return json.RawMessage(body.Canonical(v))
}

// show returns a value for people: a text as it is, "" for none.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return body.Text(v)
}

// maxViolations is how many violations a message tells.
const maxViolations = 5

// mistakeOf returns violations as one mistake, with the code of the first.
func mistakeOf(all []threeway.Objection) reconcile.Mistake {
	var lines []string
	for i, v := range all {
		if i == maxViolations {
			lines = append(lines, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		line := v.Path
		if v.From != nil || v.To != nil {
			line += fmt.Sprintf(" (%s → %s)", show(v.From), show(v.To))
		}
		if line += ": " + v.Message; v.Ground != "" {
			line += " [" + strings.TrimSpace(v.Ground+" "+v.Place) + "]"
		}
		lines = append(lines, line)
	}
	return reconcile.Mistake{Code: plan.FindingCode(all[0].Code), Message: strings.Join(lines, "; ")}
}

// readSecrets reads the secrets that have no version: only their value tells whether they
// changed.
func (e *entry) readSecrets(ctx context.Context, env integration.Environment) error {
	e.secrets, e.unknown = map[string]string{}, nil
	for _, s := range e.of.Secrets {
		switch {
		case s.Secret.Version != "":
		case env.Base != nil || env.Secret == nil:
			for _, at := range rules.Places(e.rules, e.desired, s.At) {
				e.unknown = append(e.unknown, at.Name)
			}
		default:
			value, err := env.Secret(ctx, s.Secret)
			if err != nil {
				return err
			}
			e.secrets[s.At] = value
		}
	}
	return nil
}
