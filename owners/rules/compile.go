package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/owners/content"
)

// A Type is a change type that was read, with what it inherits.
type Type struct {
	ChangeType
	detectors  []detector
	selectors  map[target][]selector
	expansions []expansion
	heirs      map[string]bool // names of the types that inherit from it
	implicit   []selector
}

// A target is what selectors are asked for: files of a kind with a schema, or of any schema.
type target struct {
	kind   content.Kind
	schema string
}

// A detector finds context files in changed files of a schema.
type detector struct {
	schema  string
	context *compiledContext
}

// An expansion leads from a file to the files whose owners also own it, for another type.
type expansion struct {
	to      *Type
	context compiledContext
}

type compiledContext struct {
	selector selector
	when     string
	backrefs bool
}

// Rules are the change types and roles of one side, ready to be asked.
type Rules struct {
	Types  []*Type
	Roles  []*Role // without those that ended
	Ended  []*Role
	People map[string]Person

	byName  map[string]*Type
	byFile  map[binding][]*Role
	anyFile map[anyBinding][]*Role
}

type binding struct {
	kind       content.Kind
	path, name string
}

type anyBinding struct{ schema, name string }

// Compile reads rules. The faults say what of them cannot be used; then nobody may be asked by them.
func Compile(in Input) (*Rules, []Fault) {
	c := &compiler{in: in, rules: &Rules{People: in.People, byName: map[string]*Type{}, byFile: map[binding][]*Role{},
		anyFile: map[anyBinding][]*Role{}}}
	c.declare()
	for i := range in.Types {
		c.changes(&in.Types[i])
	}
	c.inherit()
	for i := range in.Roles {
		c.role(&in.Roles[i])
	}
	return c.rules, c.faults
}

// A compiler reads rules.
type compiler struct {
	in     Input
	rules  *Rules
	faults []Fault
}

func (c *compiler) fault(kind FaultKind, file, pointer, text string, args ...any) {
	c.faults = append(c.faults, Fault{kind, file, pointer, fmt.Sprintf(text, args...)})
}

// Priorities are the priorities of change types, the highest first.
var Priorities = []string{"critical", "urgent", "high", "progressive-delivery", "medium", "low"}

// declare makes a type of each name.
func (c *compiler) declare() {
	for _, t := range c.in.Types {
		t.Priority = cmp.Or(t.Priority, "medium")
		t.ContextType = cmp.Or(t.ContextType, content.Datafile)
		if !slices.Contains(Priorities, t.Priority) {
			c.fault(BadWord, t.File, "/priority", "the priority %q is not known", t.Priority)
		}
		if t.ContextType != content.Datafile && t.ContextType != content.Resource {
			c.fault(BadWord, t.File, "/contextType", "the type of context %q is not known", t.ContextType)
		}
		if c.rules.byName[t.Name] != nil {
			c.fault(BadReference, t.File, "/name", "two change types are named %q", t.Name)
			continue
		}
		of := &Type{ChangeType: t, selectors: map[target][]selector{}, heirs: map[string]bool{}}
		c.rules.byName[t.Name] = of
		c.rules.Types = append(c.rules.Types, of)
	}
}

// changes reads the changes of a type.
func (c *compiler) changes(in *ChangeType) {
	t := c.rules.byName[in.Name]
	for i, rule := range in.Changes {
		at := fmt.Sprintf("/changes/%d", i)
		context := c.context(in.File, at+"/context", rule.Context)
		for j, name := range rule.Types {
			over := c.rules.byName[name]
			switch {
			case over == nil:
				c.fault(BadReference, in.File, fmt.Sprintf("%s/changeTypes/%d", at, j), "there is no change type %q", name)
			case context == nil && rule.Context == nil:
				c.fault(BadReference, in.File, at, "changes by change types need a context")
			case context != nil:
				over.expansions = append(over.expansions, expansion{t, *context})
			}
		}
		if len(rule.Types) > 0 {
			continue
		}
		schema := cmp.Or(rule.Schema, in.ContextSchema)
		t.detectors = append(t.detectors, detector{schema, context})
		for j, text := range rule.Selectors {
			s, fault := compileSelector(text)
			if fault != nil {
				c.fault(fault.Kind, in.File, fmt.Sprintf("%s/jsonPathSelectors/%d", at, j), "%s", fault.Text)
				continue
			}
			t.add(target{t.ContextType, schema}, s)
		}
	}
	for i, text := range in.Implicit {
		s, fault := compileSelector(text)
		if fault != nil || s.path == nil {
			c.fault(BadSelector, in.File, fmt.Sprintf("/implicitOwnership/%d/jsonPathSelector", i),
				"the selector %q cannot be read", text)
			continue
		}
		t.implicit = append(t.implicit, s)
	}
}

// add adds a selector once.
func (t *Type) add(to target, s selector) {
	if !slices.ContainsFunc(t.selectors[to], func(other selector) bool { return other.text == s.text }) {
		t.selectors[to] = append(t.selectors[to], s)
	}
}

// context reads how files lead to context files; nil if there is nothing to read.
func (c *compiler) context(file, pointer string, in *ContextRule) *compiledContext {
	if in == nil {
		return nil
	}
	s, fault := compileSelector(in.Selector)
	if fault != nil || s.path == nil {
		c.fault(BadSelector, file, pointer+"/selector", "the selector %q of a context cannot be read", in.Selector)
		return nil
	}
	if !slices.Contains([]string{"", "added", "removed"}, in.When) || in.Where != "" && in.Where != "backrefs" {
		c.fault(BadWord, file, pointer, "when must be added or removed, and where must be backrefs")
		return nil
	}
	return &compiledContext{s, in.When, in.Where == "backrefs"}
}

// role reads a role, unless it ended.
func (c *compiler) role(r *Role) {
	if len(r.Binds) == 0 {
		return
	}
	if r.Expires != "" {
		ends, err := time.Parse("2006-1-2", r.Expires)
		if err != nil {
			c.fault(BadDate, r.File, "/expirationDate", "the date %q must be written as 2006-01-02", r.Expires)
			return
		}
		if ends.Format(time.DateOnly) <= c.in.Today {
			c.rules.Ended = append(c.rules.Ended, r)
			return
		}
	}
	if len(r.People) == 0 && !r.HasBots && len(r.Sources) == 0 {
		c.fault(NoPeople, r.File, "/self_service", "the role %q binds change types and has no people", r.Name)
	}
	c.rules.Roles = append(c.rules.Roles, r)
	for i, b := range r.Binds {
		c.bind(r, b, fmt.Sprintf("/self_service/%d", i))
	}
}

func (c *compiler) bind(r *Role, b Bind, pointer string) {
	t := c.rules.byName[b.Type]
	if t == nil {
		c.fault(BadReference, r.File, pointer+"/change_type", "there is no change type %q", b.Type)
		return
	}
	for i, f := range b.Datafiles {
		if t.ContextSchema != "" && f.Schema != t.ContextSchema {
			c.fault(WrongSchema, r.File, fmt.Sprintf("%s/datafiles/%d", pointer, i),
				"the file %s has the schema %s, and the change type %q is for %s", f.Path, f.Schema, t.Name, t.ContextSchema)
			continue
		}
		c.rules.bindFile(binding{content.Datafile, f.Path, t.Name}, r)
	}
	for _, path := range b.Resources {
		c.rules.bindFile(binding{content.Resource, path, t.Name}, r)
	}
	if to := (anyBinding{t.ContextSchema, t.Name}); len(b.Datafiles) == 0 && len(b.Resources) == 0 &&
		t.ContextSchema != "" {
		if !slices.Contains(c.rules.anyFile[to], r) {
			c.rules.anyFile[to] = append(c.rules.anyFile[to], r)
		}
	}
}

func (r *Rules) bindFile(to binding, role *Role) {
	if !slices.Contains(r.byFile[to], role) {
		r.byFile[to] = append(r.byFile[to], role)
	}
}
