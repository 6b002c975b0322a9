package check

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A Pair is one resource on both sides of a change.
type Pair struct {
	Base, Head *cloud.Resource // nil if the side has no entry
	// Types are what is known of the type: the rules by which the change is checked come first.
	// It is more than one if the change is one of the version: then both count.
	Types []*validate.Checker
	// Children are managed resources that a replacement would destroy.
	Children []string
	// Stop is asked now and then, if it is not nil. Once it returns true, the pair is not checked
	// further, which is an error.
	Stop func() bool

	lists map[string]map[string]int // the indexes of items by name, by the pointer of the list
}

// A Result is what was found about a pair.
type Result struct {
	Findings []Finding
	// Kept are notes about properties that stay as they are whatever head says: what is create-only
	// or cannot be read back and head no longer has, and what head edits and ignores. There are also
	// those that head sets for the first time, and that the service refuses if it has another value.
	Kept []Finding
}

// Check returns what a change would do to one resource.
func (p Pair) Check() Result {
	switch {
	case p.Head == nil:
		return Result{Findings: p.removed()}
	case p.Head.Delete:
		return Result{Findings: p.deleted()}
	}
	r := Result{Findings: p.version()}
	if len(p.Types) > 0 {
		p.lists = map[string]map[string]int{}
		isTold := newTold()
		found, isSettled := p.mistakes(isTold)
		r.Findings = append(append(append(r.Findings, p.secrets()...), p.taken()...), found...)
		if !isSettled {
			p.compare(&r, isTold)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return strings.Compare(a.Property, b.Property) })
	return r
}

// isManaged reports whether something would be done with the thing of an entry.
func isManaged(r *cloud.Resource) bool { return r.Policy == reconcile.Manage }

// find returns a finding about a field of an entry, or about its body.
func find(r *cloud.Resource, code plan.FindingCode, severity plan.Severity, pointer, format string,
	args ...any) Finding {
	return Finding{Finding: plan.Finding{Code: code, Severity: severity, Place: plan.Place{File: r.File, Pointer: pointer},
		Message: fmt.Sprintf(format, args...)}, Resource: name(r), Property: pointer}
}

// name names a resource for people.
func name(r *cloud.Resource) string {
	text := r.Name
	if text == "" {
		text = r.ResourceID
	}
	return phrase.Cut(text, maxShown)
}

// removed is an entry that head has no longer.
func (p Pair) removed() []Finding {
	if !isManaged(p.Base) || p.Base.Delete {
		return nil
	}
	return []Finding{find(p.Base, reconcile.CodeOrphan, plan.SeverityWarning, "",
		"no entry names the resource any more, and it stays; to delete it, write delete: true into the entry, and remove "+
			"the entry later")}
}

// deleted is an entry that says that its thing must go.
func (p Pair) deleted() []Finding {
	switch {
	case p.Base != nil && p.Base.Delete, !isManaged(p.Head):
		return nil
	case len(p.Children) > 0:
		const most = 5
		names := strings.Join(p.Children[:min(len(p.Children), most)], ", ")
		return []Finding{find(p.Head, reconcile.CodeDeleteWithChild, plan.SeverityError, "/delete",
			"entries stand in it and stay: %s; delete them as well, or first", names)}
	case p.Base != nil && p.Base.Protected:
		f := find(p.Head, reconcile.CodeProtected, plan.SeverityError, "/delete",
			"the resource is protected; remove protected in a change of its own, and merge it first")
		return []Finding{f}
	}
	f := find(p.Head, reconcile.CodeDelete, plan.SeverityNote, "/delete", "the resource is going to be deleted")
	f.Property = ""
	return []Finding{f}
}

// version tells of another version of the type.
func (p Pair) version() []Finding {
	if p.Base == nil || strings.EqualFold(p.Base.TypeID(), p.Head.TypeID()) {
		return nil
	}
	f := find(p.Head, CodeVersion, plan.SeverityNote, "/type",
		"the resource is read and written with another version of its type")
	f.From, f.To, f.hasChange = p.Base.TypeID(), p.Head.TypeID(), true
	return []Finding{f}
}

// mistakes validates the body of head, and remembers what it tells. Mistakes that base has as well
// are old. isSettled says that there are so many that a comparison with base would add nothing.
func (p Pair) mistakes(isTold told) (out []Finding, isSettled bool) {
	var l validate.List
	if p.Base != nil {
		before := sync.OnceValue(p.before)
		l.IsOld = func(f validate.Violation) bool { return f.Code != validate.CodeTime && before().has(f) }
	}
	p.Types[len(p.Types)-1].Walk(p.given(p.Head), func(f validate.Violation) bool { // of the version that head names
		isTold.add(f.Code, f.Pointer)
		isSettled = !l.Add(f)
		return !isSettled
	})
	for _, f := range l.Findings() {
		isSettled = isSettled || f.Code == validate.CodeTime
		out = append(out,
			Finding{Finding: plan.Finding{Code: f.Code, Severity: f.Severity,
				Place: plan.Place{File: p.Head.File, Pointer: p.placeOf(f)}, Message: f.Message, Old: f.Old},
				Resource: name(p.Head), Property: f.Pointer})
	}
	return out, isSettled
}

// before returns the mistakes of base.
func (p Pair) before() seen {
	out := newSeen()
	p.Types[0].Walk(p.given(p.Base), func(f validate.Violation) bool {
		out.add(f)
		return true
	})
	return out
}

// given returns the body of an entry, with what stands beside it.
func (p Pair) given(r *cloud.Resource) validate.Body {
	b := validate.Body{Value: r.Body, IsPart: r.Adopt == cloud.AdoptRequired || r.Policy == reconcile.Observe,
		Fixed: fixed(r), Stop: p.Stop}
	for _, s := range overlay(p.Types[len(p.Types)-1].Rules, r).Secrets {
		b.Given = append(b.Given, s.At)
	}
	b.Given = append(b.Given, r.Unknown()...)
	return b
}

// fixed returns the parts of the identity that the body of an object of Kubernetes repeats.
func fixed(r *cloud.Resource) map[string]string {
	if r.Of == nil || r.Of.Family != resources.Kubernetes {
		return nil
	}
	out := map[string]string{"/metadata/name": r.Address.Name}
	if _, rest, ok := strings.Cut(r.Address.ID, "/namespaces/"); ok {
		if namespace, _, isInside := strings.Cut(rest, "/"); isInside {
			out["/metadata/namespace"] = namespace
		}
	}
	return out
}

// compare plans the change as if base were live. What is told already is not told again.
func (p Pair) compare(r *Result, isTold told) {
	if p.Base == nil && isManaged(p.Head) && p.Head.Adopt != cloud.AdoptNever && p.Head.Adopt != "" {
		r.Kept = append(r.Kept, p.unknown()...)
	}
	if p.Base == nil || !isManaged(p.Head) || p.Base.Body == nil || p.Head.Body == nil {
		return
	}
	isReplaced := false
	var found, kept few
	isKept := newTold()
	for _, t := range p.Types {
		made := p.planOfHead(t, len(r.Findings) == 0)
		isReplaced = isReplaced || made.Action == threeway.Replace
		p.violations(t, made, isTold, &found)
		p.notes(made, isKept, &kept)
	}
	p.ignored(&kept)
	r.Findings = append(r.Findings, found.all(plan.SeverityWarning)...)
	r.Kept = append(r.Kept, kept.all(plan.SeverityNote)...)
	if isReplaced && p.Base.Protected {
		r.Findings = append(r.Findings, find(p.Head, reconcile.CodeProtected, plan.SeverityError, "/allowReplace",
			"the change means delete and create, and the resource is protected; remove protected in a change of its own, and "+
				"merge it first"))
	}
	if p.Stop != nil && p.Stop() {
		r.Findings = append(r.Findings, find(p.Head, validate.CodeTime, plan.SeverityError, "/body", "%s",
			validate.TimeMessage))
	}
}

// violations adds those of a plan, but for what is told.
func (p Pair) violations(t *validate.Checker, made *threeway.Plan, isTold told, out *few) {
	old := sync.OnceValue(func() map[[2]string]bool {
		all := map[[2]string]bool{}
		for _, v := range p.plan(t, p.Base.Body).Violations {
			all[[2]string{v.Code, v.Path}] = true
		}
		return all
	})
	for _, v := range made.Violations {
		if isTold.has(v) {
			continue
		}
		f := p.violation(v, made.Action)
		f.Old = !isCreateOnly(v) && old()[[2]string{v.Code, v.Path}]
		isTold.add(f.Code, f.Property)
		if !out.add(f) {
			return
		}
	}
}

// planOfHead returns the plan for the body of head over that of base. What is equal in both is left
// out, but for a replacement that a mistake there would forbid.
func (p Pair) planOfHead(t *validate.Checker, isValid bool) *threeway.Plan {
	if p.Head.AllowReplace && !isValid {
		return p.plan(t, p.Head.Body)
	}
	base, head := *p.Base, p.Head.Body
	base.Body, head = apart(rules.With(t.Rules, overlay(t.Rules, p.Head)), base.Body, head)
	p.Base = &base
	return p.plan(t, head)
}

// plan returns the plan for a desired body over that of base.
func (p Pair) plan(t *validate.Checker, desired any) *threeway.Plan {
	return p.planWith(rules.With(t.Rules, overlay(t.Rules, p.Head)), desired)
}

func (p Pair) planWith(known rules.Rules, desired any) *threeway.Plan {
	return threeway.Make(threeway.Input{
		Applied: p.Base.Body, Desired: desired, Live: p.Base.Body, WasApplied: true, IsThere: true,
		Rules: known, AllowReplace: p.Head.AllowReplace, AllowUpdate: p.Head.AllowUpdate, Children: p.Children, Stop: p.Stop,
		Key: []byte("base has each value as it is, so nothing is hashed"),
	})
}

func isCreateOnly(v threeway.Objection) bool {
	return v.Code == threeway.CreateOnly || v.Code == threeway.CreateOnlyInferred
}

// overlay returns what an entry says about its body. Versions of secrets do not count: base and head have no values.
func overlay(of rules.Rules, r *cloud.Resource) rules.Overlay {
	o := r.Overlay(of)
	o.Ignore = append(slices.Clone(o.Ignore), r.Unknown()...)
	for i := range o.Secrets {
		o.Secrets[i].Version = ""
	}
	return o
}

// violation tells what a violation of the plan means.
func (p Pair) violation(v threeway.Objection, action threeway.Action) Finding {
	f := Finding{Finding: plan.Finding{Code: plan.FindingCode(v.Code), Severity: plan.SeverityError,
		Place: plan.Place{File: p.Head.File, Pointer: p.inFile(v.Path)}, Message: v.Message}, Resource: name(p.Head),
		Property: v.Path}
	ground := ""
	if v.Ground != "" {
		ground = " (" + v.Ground + ")"
	}
	restore := "write " + show(v.From)
	if v.From == nil {
		restore = "leave it out"
	}
	switch {
	case v.Code == threeway.KeptCreateOnly:
		f.Severity, f.Message = plan.SeverityNote, "it cannot be unset, so it stays as it is"
		return f
	case v.Code == threeway.KeptContested, v.Code == threeway.UnknownValue:
		f.Severity = plan.SeverityNote
		return f
	case !isCreateOnly(v):
		return f
	case action == threeway.Replace:
		f.Code, f.Severity = CodeReplace, plan.SeverityWarning
		f.Message = "the resource is deleted and created again, as allowReplace says" + ground
	case v.Code == threeway.CreateOnly:
		f.Message = fmt.Sprintf("changing it means delete and create%s; %s as before, or set allowReplace: true if the "+
			"resource may be destroyed", ground, restore)
	default:
		f.Message = fmt.Sprintf("changing it probably means delete and create%s; %s as before, or set allowUpdate: [%s] if "+
			"the service takes it,"+
			" or allowReplace: true if the resource may be destroyed", ground, restore, v.Pattern)
	}
	f.From, f.To, f.hasChange = v.From, v.To, true
	return f
}

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

// taken tells which values of head are not known before the merge.
func (p Pair) taken() (out []Finding) {
	var old []string
	if p.Base != nil {
		old = p.Base.TakenFrom()
	}
	for _, t := range p.Head.Taken {
		for _, o := range t.Of {
			if !slices.Contains(old, t.At+" "+o.String()) {
				out = append(out, find(p.Head, cloud.CodeOutput, plan.SeverityNote, "/body"+t.At,
					"it is known when %s is there; before the merge nothing about it is checked", o.Of.File))
			}
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
