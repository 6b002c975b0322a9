package cloud

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/family"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A resolver finds the addresses of resources and what they refer to.
type resolver struct {
	families func(string) *family.Family
	byFile   map[string]*Resource
	byName   map[string][]*Resource // by API and name
	byKey    map[reconcile.Key]*Resource
	states   map[*Resource]int // 1 while an address is being found, 2 when it is known
}

// resolve finds types, addresses and references of all resources.
func (m *Model) resolve(families func(string) *family.Family) {
	x := &resolver{families: families, byFile: map[string]*Resource{}, byName: map[string][]*Resource{},
		byKey: map[reconcile.Key]*Resource{}, states: map[*Resource]int{}}
	for _, r := range m.Resources {
		x.byFile[r.File] = r
		if r.API != nil && r.Name != "" {
			name := r.API.File + " " + r.Name
			x.byName[name] = append(x.byName[name], r)
		}
	}
	for _, r := range m.Resources {
		x.locate(r, nil)
	}
	byID := map[string]*Resource{} // by scope and canonical id
	for _, r := range m.Resources {
		if r.Key == "" {
			continue
		}
		id := r.API.Endpoint + " " + r.Address.Key
		if first := byID[id]; first != nil {
			message := fmt.Sprintf("%s is the same resource", first.File)
			r.fail(reconcile.CodeDuplicate, "/name", message)
			first.fail(reconcile.CodeDuplicate, "/name", fmt.Sprintf("%s is the same resource", r.File))
			continue
		}
		byID[id], x.byKey[r.Key] = r, r
	}
	for _, r := range m.Resources {
		x.refer(r, byID)
	}
	m.findCircles()
	for _, r := range m.Resources {
		for _, k := range r.Across {
			m.Findings = append(m.Findings, plan.Finding{Code: CodeAcross, Severity: plan.SeverityNote, Place: r.Place(),
				Message: fmt.Sprintf("%s refers to %s, which another run works on: nothing orders these two", r.Key, k)})
		}
	}
}

// locate finds the address of a resource. Chain are the resources that wait for it.
func (x *resolver) locate(r *Resource, chain []*Resource) {
	switch x.states[r] {
	case 1:
		const most = 5
		var files []string
		cycle := chain[slices.Index(chain, r):]
		for _, c := range cycle[:min(len(cycle), most)] {
			files = append(files, c.File)
		}
		message := "the entries stand in each other: " + strings.Join(files, ", ")
		if len(cycle) > most {
			message += fmt.Sprintf(" and %d more", len(cycle)-most)
		}
		r.fail(reconcile.CodeCycle, "/parent", message)
		return
	case 2:
		return
	}
	x.states[r] = 1
	defer func() { x.states[r] = 2 }()
	switch {
	case r.API == nil || r.Type == "":
		return
	case !r.API.Mistake.IsZero():
		r.fail(r.API.Mistake.Code, "/api", fmt.Sprintf("its API cannot be used, see %s", r.API.File))
		return
	}
	ref := family.Reference{ID: r.ResourceID, Name: r.Name}
	if r.Parent != "" {
		parent, ok := x.parent(r, append(chain, r))
		if !ok {
			return
		}
		ref.Parent = parent
	}
	types, err := r.API.specs.Find(r.Type)
	if err != nil {
		r.fail(codeOf(err), "/type", openapi.MessageOf(err))
		return
	}
	f := x.families(r.API.Family)
	r.setAddress(f, types, ref)
}

// setAddress takes the first of several addresses of a type that the reference fits.
func (r *Resource) setAddress(f *family.Family, types []*resources.Type, ref family.Reference) {
	var first error
	for _, t := range types {
		if t.Family != f.Types {
			first = fmt.Errorf("it is a type of the family %s, and the API says %s", t.Family.Name, f.Name)
			continue
		}
		a, err := f.Locate(t, ref)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		r.Of, r.Address = t, a
		r.Key, r.Root = KeyOf(r.API, f, a)
		r.Digest = r.API.specs.Digest(t)
		if _, err := r.API.specs.Rules(t); err != nil {
			r.fail(codeOf(err), "/type", openapi.MessageOf(err))
		}
		if t.Family == resources.Plain {
			r.setHabits(t, ref)
		}
		return
	}
	pointer := "/name"
	switch {
	case ref.ID != "":
		pointer = "/resourceId"
	case ref.Parent != "" && strings.HasPrefix(first.Error(), "parent "):
		pointer = "/parent"
	}
	r.fail(CodeImmutableID, pointer, first.Error())
}

// parent returns the id of the parent that an entry names: by the path of a datafile, by the
// name of another entry of the same API, or by its id.
func (x *resolver) parent(r *Resource, chain []*Resource) (string, bool) {
	p := x.byFile[r.Parent]
	if p == nil && !strings.HasPrefix(r.Parent, "/") {
		named := x.byName[r.API.File+" "+r.Parent]
		switch {
		case len(named) > 1:
			r.fail(reconcile.CodeDuplicate, "/parent",
				fmt.Sprintf("%d entries have the name %.80q: write the path of one, such as %s", len(named), r.Parent,
					named[0].File))
			return "", false
		case len(named) == 0:
			r.fail(CodeRequired, "/parent", fmt.Sprintf("no entry of the API has the name %.80q, and it is no id", r.Parent))
			return "", false
		}
		p = named[0]
	}
	if p == nil {
		return r.Parent, true
	}
	x.locate(p, chain)
	if p.Key == "" {
		r.fail(CodeRequired, "/parent", fmt.Sprintf("its parent %s has a mistake", p.File))
		return "", false
	}
	return p.Address.ID, true
}

// refer finds what a resource needs.
func (x *resolver) refer(r *Resource, byID map[string]*Resource) {
	needs := map[reconcile.Key]bool{}
	for _, file := range sortedKeys(r.Where) { // only entries of needs are there by now
		if n := x.byFile[file]; n != nil && n.Key != "" {
			needs[n.Key] = true
			continue
		}
		r.fail(CodeRequired, "/needs", fmt.Sprintf("it needs %.200q, which is no usable entry of /cloud/resource-1.yml",
			file))
	}
	clear(r.Where)
	r.Body, r.Taken = withhold(x.fill(r, r.Body, "", needs, byID), "")
	if r.Key == "" {
		return
	}
	r.checkOutputs()
	for id := r.Address.Parent; id != ""; id = id[:strings.LastIndexByte(id, '/')] {
		if around := byID[r.API.Endpoint+" "+x.families(r.API.Family).Key(id)]; around != nil && around != r {
			r.Around = around.Key
			needs[around.Key] = true
			break
		}
	}
	for _, k := range sortedKeys(needs) {
		switch of := x.byKey[k]; {
		case of == nil || of == r || isBelow(k, r.Key):
		case of.Root != r.Root || of.API.Endpoint != r.API.Endpoint:
			r.Across = append(r.Across, k)
		default:
			r.Needs = append(r.Needs, k)
		}
	}
}

// isBelow reports whether the resource of a key stands in another one.
func isBelow(k, around reconcile.Key) bool { return strings.HasPrefix(string(k), string(around)+"/") }

// fill returns a value of a body in which the ids of other entries stand for {"$ref": file}. It
// notes the entries that the value refers to.
func (x *resolver) fill(r *Resource, v any, at string, needs map[reconcile.Key]bool, byID map[string]*Resource) any {
	switch v := v.(type) {
	case string:
		if r.API == nil || r.Of == nil || !strings.HasPrefix(v, "/") {
			return v
		}
		if of := byID[r.API.Endpoint+" "+x.families(r.API.Family).Key(v)]; of != nil {
			needs[of.Key] = true
			r.Where[at] = of.File
		}
	case map[string]any:
		if file, isText := v["$ref"].(string); isText && len(v) == 1 {
			of := x.byFile[file]
			if of == nil || of.Key == "" {
				r.fail(CodeRequired, "/body"+at,
					fmt.Sprintf("it refers to %.200q, which is no usable entry of /cloud/resource-1.yml", file))
				return v
			}
			needs[of.Key] = true
			r.Where[at] = of.File
			if of.IsSought { // only the service knows its id
				return &Output{Of: of, At: jsonpointer.Append("", of.Plain.ID)}
			}
			return of.Address.ID
		}
		if o := x.output(r, v, at); o != nil {
			if o.Of == nil {
				return nil
			}
			needs[o.Of.Key] = true
			r.Where[at] = o.Of.File
			return o
		}
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = x.fill(r, item, jsonpointer.Append(at, name), needs, byID)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = x.fill(r, item, fmt.Sprintf("%s/%d", at, i), needs, byID)
		}
		return out
	}
	return v
}

// KeyOf returns the key of a resource at an address, and that of its shard.
func KeyOf(of *API, f *family.Family, a family.Address) (key reconcile.Key, root string) {
	if f.Types != resources.ARM { // ids are unique at one endpoint only
		return reconcile.Key(of.Name + a.Key), of.Name + a.Root
	}
	return reconcile.Key(a.Key), a.Root
}
