package check

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/generic/validate"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A Report is what a change would do.
type Report struct {
	Resources int       // entries of head
	Changed   int       // entries that differ, those of base that are gone among them
	Findings  []Finding // sorted by file and place
	// Kept are notes about properties, see [Result].
	Kept []Finding
	// Effects are what a run does because of the change, if base is what is there. Whoever has them fills them in.
	Effects []plan.Effect
}

// Fails reports whether the change must not be merged as it is.
func (r *Report) Fails() bool { return slices.ContainsFunc(r.Findings, Finding.Fails) }

// Locate fills in the lines of findings. Find returns the line of a JSON pointer in a datafile
// of head.
func (r *Report) Locate(find func(file, pointer string) (line int)) {
	for _, all := range [][]Finding{r.Findings, r.Kept} {
		for i, f := range all {
			if f.File != "" && f.Code != reconcile.CodeOrphan {
				all[i].Line = find(f.File, f.Pointer)
			}
		}
	}
}

// Run checks the change from base to head. Without a model of base everything is new.
func Run(base, head *cloud.Model) *Report {
	if base == nil {
		base = &cloud.Model{}
	}
	return newChecker(base, head).run(base, head)
}

func newChecker(base, head *cloud.Model) *checker {
	return &checker{types: map[*resources.Type]*validate.Checker{}, apis: map[string]*cloud.API{},
		report: &Report{Resources: len(head.Resources)}, base: base.ByKey(), baseFiles: byFile(base),
		children: childrenOf(head)}
}

func (c *checker) run(base, head *cloud.Model) *Report {
	c.general(base, head)
	heads, files := head.ByKey(), byFile(head)
	for _, r := range head.Resources {
		c.entry(r, heads)
	}
	for _, r := range base.Resources {
		now := files[r.File]
		isUnread := now != nil && now.Key == "" // its mistake is told
		if r.Key != "" && heads[r.Key] == nil && !isUnread {
			c.add(Pair{Base: r})
		}
	}
	for _, all := range [][]Finding{c.report.Findings, c.report.Kept} {
		slices.SortStableFunc(all, func(a, b Finding) int {
			return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Code, b.Code))
		})
	}
	return c.report
}

// A checker makes one report.
type checker struct {
	base      map[reconcile.Key]*cloud.Resource
	baseFiles map[string]*cloud.Resource
	children  map[reconcile.Key][]string
	types     map[*resources.Type]*validate.Checker
	apis      map[string]*cloud.API // of base
	report    *Report
	always    *validate.Checker // of all entries; nil: that of each one
}

func byFile(m *cloud.Model) map[string]*cloud.Resource {
	out := make(map[string]*cloud.Resource, len(m.Resources))
	for _, r := range m.Resources {
		out[r.File] = r
	}
	return out
}

// childrenOf returns the ids of the managed entries around which an entry stands.
func childrenOf(m *cloud.Model) map[reconcile.Key][]string {
	out := map[reconcile.Key][]string{}
	for _, r := range m.Resources {
		if r.Around != "" && isManaged(r) && !r.Delete {
			out[r.Around] = append(out[r.Around], string(r.Key))
		}
	}
	return out
}

func (c *checker) add(p Pair) {
	c.report.Changed++
	r := p.Check()
	c.report.Findings = append(c.report.Findings, r.Findings...)
	c.report.Kept = append(c.report.Kept, r.Kept...)
}

// entry checks an entry of head.
func (c *checker) entry(r *cloud.Resource, heads map[reconcile.Key]*cloud.Resource) {
	before := c.base[r.Key]
	if r.Key == "" {
		before = c.baseFiles[r.File]
	}
	if !r.Mistake.IsZero() {
		f := find(r, r.Mistake.Code, plan.SeverityError, r.Mistake.Pointer, "%s", r.Mistake.Message)
		f.Old = before != nil && before.Mistake == r.Mistake
		c.report.Findings = append(c.report.Findings, f)
	}
	if r.Key == "" || heads[r.Key] != r {
		c.repeated(r, heads[r.Key])
		return
	}
	c.moved(before, r)
	c.governed(before, r)
	if before != nil && isSame(before, r) {
		return
	}
	types, err := c.typesOf(before, r)
	if err != nil {
		types = nil
		c.report.Findings = append(c.report.Findings, find(r, plan.FindingCode(openapi.CodeOf(err)), plan.SeverityError,
			"/type", "the specification cannot be read: %s", openapi.MessageOf(err)))
	}
	c.undescribed(r, types)
	c.add(Pair{Base: before, Head: r, Types: types, Children: c.children[r.Key]})
}

// repeated tells of an entry of head that another one is about as well, unless its mistake says so already.
func (c *checker) repeated(r, other *cloud.Resource) {
	if r.Key == "" || other == nil || !r.Mistake.IsZero() {
		return
	}
	c.report.Findings = append(c.report.Findings, find(r, reconcile.CodeDuplicate, plan.SeverityError, "",
		"%s is the same resource; remove one of both", other.File))
}

// governed tells of an entry with another policy than before.
func (c *checker) governed(before, r *cloud.Resource) {
	if before == nil || before.Policy == r.Policy {
		return
	}
	f := find(r, reconcile.CodePolicy, plan.SeverityNote, "/policy", "%s", policies[r.Policy])
	f.From, f.To, f.hasChange = policyName(before.Policy), policyName(r.Policy), true
	c.report.Findings = append(c.report.Findings, f)
}

// policies say what policies mean from now on.
var policies = map[reconcile.Policy]string{
	reconcile.Manage:  "from now on the resource is changed to be as the data say",
	reconcile.Observe: "from now on the resource is never written, and what the data say of it is not compared",
	reconcile.Detach:  "from now on the resource stays when its entry goes or says delete",
}

// policyName returns a policy as the data have it.
func policyName(p reconcile.Policy) string { return cmp.Or(string(p), "manage") }

// moved tells of an entry that another API has at another endpoint. A change of the endpoint of one
// API is told once.
func (c *checker) moved(before, r *cloud.Resource) {
	if before == nil || before.API == nil || r.API == nil || before.API.Name == r.API.Name ||
		strings.EqualFold(before.API.Endpoint, r.API.Endpoint) {
		return
	}
	f := find(r, validate.CodeIdentity, plan.SeverityWarning, "/api",
		"it is looked for at another endpoint; what is at the old one stays, and nobody names it")
	f.From, f.To, f.hasChange = before.API.Endpoint, r.API.Endpoint, true
	c.report.Findings = append(c.report.Findings, f)
}

// isSame reports whether two entries want the same of one resource, wherever their files are.
func isSame(a, b *cloud.Resource) bool {
	return a.Policy == b.Policy && a.Adopt == b.Adopt && a.Delete == b.Delete && a.Protected == b.Protected &&
		a.AllowReplace == b.AllowReplace && strings.EqualFold(a.TypeID(), b.TypeID()) &&
		slices.Equal(a.AllowUpdate, b.AllowUpdate) &&
		slices.Equal(a.Ignore, b.Ignore) && slices.Equal(a.Exclusive, b.Exclusive) && slices.Equal(a.Secrets, b.Secrets) &&
		reflect.DeepEqual(a.Body, b.Body) && slices.Equal(a.TakenFrom(), b.TakenFrom())
}

// Replaces reports whether a run deletes the resource of an entry and creates it again because of a change,
// as the entry allows. Base stands for what is there. What cannot be told is true: that the type or a body
// is not known, or that base did not allow it, so that what was held back before may be done now.
func Replaces(base, head *cloud.Resource) bool {
	if !head.AllowReplace || !isManaged(head) {
		return false
	}
	c := newChecker(&cloud.Model{Resources: []*cloud.Resource{base}}, &cloud.Model{Resources: []*cloud.Resource{head}})
	types, err := c.typesOf(base, head)
	if err != nil || len(types) == 0 || base.Body == nil || head.Body == nil || !base.AllowReplace {
		return true
	}
	p := Pair{Base: base, Head: head, Types: types}
	return slices.ContainsFunc(types, func(t *validate.Checker) bool {
		return p.plan(t, head.Body).Action == threeway.Replace
	})
}

// typesOf returns what is known of the type of an entry, the rules that base has first.
func (c *checker) typesOf(before, r *cloud.Resource) ([]*validate.Checker, error) {
	if c.always != nil {
		return []*validate.Checker{c.always}, nil
	}
	var out []*validate.Checker
	if before != nil && before.Of != nil {
		t, err := c.typeOf(before.API.Specs(), before.Of)
		if err != nil || strings.EqualFold(before.TypeID(), r.TypeID()) {
			return []*validate.Checker{t}, err
		}
		out = append(out, t)
	}
	specs, of := c.known(r)
	if of == nil {
		return out, nil
	}
	t, err := c.typeOf(specs, of)
	return append(out, t), err
}

// known returns the type of an entry as the specifications of base describe it, or else those
// of head.
func (c *checker) known(r *cloud.Resource) (*cloud.Specs, *resources.Type) {
	if r.API == nil || r.Of == nil {
		return nil, nil
	}
	if a := c.apis[r.API.Name]; a != nil && a.Specs() != nil && a.Specs() != r.API.Specs() {
		found, err := a.Specs().Find(r.TypeID())
		if i := slices.IndexFunc(found, func(t *resources.Type) bool { return t.Path == r.Of.Path }); err == nil && i >= 0 {
			return a.Specs(), found[i]
		}
	}
	return r.API.Specs(), r.Of
}

func (c *checker) typeOf(specs *cloud.Specs, of *resources.Type) (*validate.Checker, error) {
	if t := c.types[of]; t != nil {
		return t, nil
	}
	found, err := specs.Rules(of)
	if err != nil {
		return nil, err
	}
	t, err := validate.NewType(of, found, specs.Lock)
	c.types[of] = t
	return t, err
}

// general tells what is wrong with APIs, and what people must know.
func (c *checker) general(base, head *cloud.Model) {
	old := map[string]bool{}
	for _, f := range base.Findings {
		old[string(f.Code)+f.Message+f.File] = true
	}
	for _, f := range head.Findings {
		f.Old = old[string(f.Code)+f.Message+f.File]
		c.report.Findings = append(c.report.Findings, Finding{Finding: f, Property: f.Pointer})
	}
	for _, a := range base.APIs {
		c.apis[a.Name] = a
	}
	for _, a := range head.APIs {
		c.api(c.apis[a.Name], a)
	}
}

// api tells what a change of an API means for all its resources.
func (c *checker) api(before, a *cloud.API) {
	if before == nil || before.Specs() == nil || a.Specs() == nil {
		return
	}
	add := func(f Finding) { c.report.Findings = append(c.report.Findings, f) }
	if before.Specs().ID != a.Specs().ID {
		add(Finding{Finding: plan.Finding{Code: CodeRules, Severity: plan.SeverityNote,
			Place: plan.Place{File: a.File, Pointer: "/specifications"},
			Message: "the change edits the specifications or the overrides; it is checked by those of base, and they count " +
				"after the merge"}, Property: "/specifications"})
	}
	if !slices.Equal(before.ReadActions, a.ReadActions) {
		add(Finding{Finding: plan.Finding{Code: CodeRules, Severity: plan.SeverityNote,
			Place:   plan.Place{File: a.File, Pointer: "/readActions"},
			Message: "the change edits the read actions; before the merge those of base count"}, Property: "/readActions"})
	}
	const unasked = "a dry run of this change asks for none of them, and checks them by the data alone"
	switch {
	case !strings.EqualFold(before.Endpoint, a.Endpoint):
		add(Finding{Finding: plan.Finding{Code: validate.CodeIdentity, Severity: plan.SeverityWarning,
			Place: plan.Place{File: a.File, Pointer: "/endpoint"},
			Message: fmt.Sprintf("all resources of %q are looked for there; those at the old endpoint stay, and nobody names "+
				"them; %s", a.Name, unasked)}, Property: "/endpoint", From: before.Endpoint, To: a.Endpoint, hasChange: true})
	case before.Endpoint != a.Endpoint, !before.IsReachedLike(a):
		add(Finding{Finding: plan.Finding{Code: CodeTarget, Severity: plan.SeverityWarning, Place: plan.Place{File: a.File},
			Message: fmt.Sprintf("the change alters how the resources of %q are reached: %s", a.Name, unasked)}})
	}
}
