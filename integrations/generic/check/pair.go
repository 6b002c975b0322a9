package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integrations/generic/cloud"
	"github.com/app-sre/prcheck/integrations/generic/rules"
	"github.com/app-sre/prcheck/integrations/generic/threeway"
	"github.com/app-sre/prcheck/integrations/generic/validate"
	"github.com/app-sre/prcheck/openapi/resources"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/reconcile"
)

// A Pair is one resource on both sides of a change.
type Pair struct {
	Base, Head *cloud.Resource // nil if the side has no entry
	// Types are what is known of the type: the rules by which the change is checked come first.
	// It is more than one if the change is one of the version: then both count.
	Types []*validate.Type
	// Children are managed resources that a replacement would destroy.
	Children []string
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
		r.Findings = append(r.Findings, p.mistakes()...)
		p.compare(&r)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return strings.Compare(a.Path, b.Path) })
	return r
}

// isManaged reports whether something would be done with the thing of an entry.
func isManaged(r *cloud.Resource) bool { return r.Policy == reconcile.Manage }

// find returns a finding about a field of an entry, or about its body.
func find(r *cloud.Resource, code reconcile.Code, severity plan.Severity, pointer, format string, args ...any) Finding {
	return Finding{Code: code, Severity: severity, File: r.File, Pointer: pointer, Resource: name(r), Path: pointer, Message: fmt.Sprintf(format, args...)}
}

// name names a resource for people.
func name(r *cloud.Resource) string {
	text := r.Name
	if text == "" {
		text = r.ResourceID
	}
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// removed is an entry that head has no longer.
func (p Pair) removed() []Finding {
	if !isManaged(p.Base) || p.Base.Delete {
		return nil
	}
	return []Finding{find(p.Base, reconcile.CodeOrphan, plan.SeverityWarning, "",
		"no entry names the resource any more, and it stays; to delete it, write delete: true into the entry, and remove the entry later")}
}

// deleted is an entry that says that its thing must go.
func (p Pair) deleted() []Finding {
	switch {
	case p.Base != nil && p.Base.Delete, !isManaged(p.Head):
		return nil
	case p.Base != nil && p.Base.Protected:
		f := find(p.Head, reconcile.CodeProtected, plan.SeverityError, "/delete", "the resource is protected; remove protected in a change of its own, and merge it first")
		return []Finding{f}
	}
	f := find(p.Head, reconcile.CodeDelete, plan.SeverityNote, "/delete", "the resource is going to be deleted")
	f.Path = ""
	return []Finding{f}
}

// version tells of another version of the type.
func (p Pair) version() []Finding {
	if p.Base == nil || strings.EqualFold(p.Base.TypeID(), p.Head.TypeID()) {
		return nil
	}
	f := find(p.Head, CodeVersion, plan.SeverityNote, "/type", "the resource is read and written with another version of its type")
	f.From, f.To, f.hasChange = p.Base.TypeID(), p.Head.TypeID(), true
	return []Finding{f}
}

// mistakes validates the body of head. Those that base has as well are old.
func (p Pair) mistakes() []Finding {
	valid := p.Types[len(p.Types)-1] // of the version that head names
	found := valid.Check(given(p.Head))
	before := seen{}
	if p.Base != nil && len(found) > 0 {
		before = remember(p.Types[0].Check(given(p.Base)))
	}
	var out []Finding
	for _, f := range found {
		out = append(out, Finding{
			Code: f.Code, Severity: f.Severity, File: p.Head.File, Pointer: p.placeOf(f), Resource: name(p.Head),
			Path: f.Pointer, Message: f.Message, Old: before.has(f),
		})
	}
	return out
}

// given returns the body of an entry, with what stands beside it.
func given(r *cloud.Resource) validate.Body {
	b := validate.Body{Value: r.Body, IsPart: r.Adopt == cloud.AdoptRequired || r.Policy == reconcile.Observe, Fixed: fixed(r)}
	for _, s := range r.Secrets {
		b.Given = append(b.Given, s.At)
	}
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

// compare plans the change as if base were live.
func (p Pair) compare(r *Result) {
	if p.Base == nil || !isManaged(p.Head) || p.Base.Body == nil || p.Head.Body == nil {
		return
	}
	isReplaced := false
	for _, t := range p.Types {
		made := p.plan(t, p.Head.Body)
		isReplaced = isReplaced || made.Action == threeway.Replace
		for _, v := range made.Violations {
			if isTold(r.Findings, v) {
				continue
			}
			f := p.violation(v, made.Action)
			f.Old = !isCreateOnly(v) && slices.ContainsFunc(p.plan(t, p.Base.Body).Violations, func(old threeway.Finding) bool {
				return old.Code == v.Code && old.Path == v.Path
			})
			r.Findings = append(r.Findings, f)
		}
		for _, w := range made.Warnings {
			if !isTold(r.Kept, w) {
				r.Kept = append(r.Kept, p.violation(w, made.Action))
			}
		}
		r.Kept = p.firstSet(r.Kept, made)
	}
	r.Kept = append(r.Kept, p.ignored()...)
	if isReplaced && p.Base.Protected {
		r.Findings = append(r.Findings, find(p.Head, reconcile.CodeProtected, plan.SeverityError, "/allowReplace",
			"the change means delete and create, and the resource is protected; remove protected in a change of its own, and merge it first"))
	}
}

// plan returns the plan for a desired body over that of base.
func (p Pair) plan(t *validate.Type, desired any) *threeway.Plan {
	return p.planWith(rules.With(t.Rules, overlay(p.Head)), desired)
}

func (p Pair) planWith(known rules.Rules, desired any) *threeway.Plan {
	return threeway.Make(threeway.Input{
		Applied: p.Base.Body, Desired: desired, Live: p.Base.Body, WasApplied: true, IsThere: true,
		Rules: known, AllowReplace: p.Head.AllowReplace, AllowUpdate: p.Head.AllowUpdate, Children: p.Children,
		Key: []byte("base has each value as it is, so nothing is hashed"),
	})
}

func isCreateOnly(v threeway.Finding) bool {
	return v.Code == threeway.CreateOnly || v.Code == threeway.CreateOnlyInferred
}

// isTold reports whether findings have a violation, perhaps at a place inside of it.
func isTold(findings []Finding, v threeway.Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		rest, ok := strings.CutPrefix(f.Path, v.Path)
		isSame := string(f.Code) == v.Code || f.Code == CodeReplace && isCreateOnly(v)
		return isSame && ok && (rest == "" || rest[0] == '/' && !isCreateOnly(v))
	})
}

func overlay(r *cloud.Resource) rules.Overlay {
	o := rules.Overlay{Ignore: r.Ignore, Exclusive: r.Exclusive}
	for _, s := range r.Secrets {
		o.Secrets = append(o.Secrets, rules.Secret{At: s.At})
	}
	return o
}

// violation tells what a violation of the plan means.
func (p Pair) violation(v threeway.Finding, action threeway.Action) Finding {
	f := Finding{Code: reconcile.Code(v.Code), Severity: plan.SeverityError, File: p.Head.File, Pointer: p.inFile(v.Path),
		Resource: name(p.Head), Path: v.Path, Message: v.Message}
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
	case v.Code == threeway.KeptContested:
		f.Severity = plan.SeverityNote
		return f
	case !isCreateOnly(v):
		return f
	case action == threeway.Replace:
		f.Code, f.Severity = CodeReplace, plan.SeverityWarning
		f.Message = "the resource is deleted and created again, as allowReplace says" + ground
	case v.Code == threeway.CreateOnly:
		f.Message = fmt.Sprintf("changing it means delete and create%s; %s as before, or set allowReplace: true if the resource may be destroyed", ground, restore)
	default:
		f.Message = fmt.Sprintf("changing it probably means delete and create%s; %s as before, or set allowUpdate: [%s] if the service takes it,"+
			" or allowReplace: true if the resource may be destroyed", ground, restore, v.Pattern)
	}
	f.From, f.To, f.hasChange = v.From, v.To, true
	return f
}
