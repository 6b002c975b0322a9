package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/owners/difference"
)

// A Context is who may approve what a change type allows in a changed file.
type Context struct {
	Type    *Type       // whose selectors allow places
	Origin  *Type       // the type that is bound, or that leads to the one whose selectors count
	File    content.Ref // stands in templates
	Owned   content.Ref // which the role binds
	Role    *Role       // nil for an owner whom the file names itself
	People  []Person    // whom base knows, in the order of names
	Unknown []string    // sources of members, and owners whom base does not know
}

// Name returns the name of the role, or which type lets the file name its owner.
func (c *Context) Name() string {
	if c.Role != nil {
		return c.Role.Name
	}
	return "implicit ownership - (via " + c.Origin.Name + ")"
}

// IsDisabled reports whether the type has no effect.
func (c *Context) IsDisabled() bool { return c.Type.Disabled }

// Has reports whether a person may approve by this context.
func (c *Context) Has(person string) bool {
	return slices.ContainsFunc(c.People, func(p Person) bool { return p.Name == person })
}

// Had reports whether it is known that a person could approve by this context at a time. Of a member whose source is
// silent nothing is known after the last time when it answered.
func (c *Context) Had(person string, at time.Time) bool {
	return slices.ContainsFunc(c.People, func(p Person) bool {
		return p.Name == person && (p.KnownAt.IsZero() || !at.After(p.KnownAt))
	})
}

// The bounds of looking for the contexts of one change.
const (
	maxSteps = 20_000  // types that look at files, over all hops
	maxLooks = 200_000 // files that are asked whether they refer to the changed one
)

// Contexts returns the contexts of a changed file, in the order of types. isInHead says whether head has a user with a
// path; such a user approves nothing, and is told.
func (r *Rules) Contexts(c *content.Change, w content.World, isInHead func(path string) bool) ([]*Context, error) {
	var out []*Context
	f := &finder{rules: r, world: w, steps: maxSteps, looks: maxLooks}
	file := fileChange{c.Ref, c.Old, c.New, c.Referring()}
	for _, t := range r.Types {
		all, err := f.resolve(t, file, map[step]bool{})
		if err != nil {
			return nil, fmt.Errorf("%s: change type %q: %w", c.Path, t.Name, err)
		}
		for _, of := range all {
			for _, role := range r.owning(of) {
				out = append(out, &Context{Type: t, Origin: of.origin, File: of.file, Owned: of.owned, Role: role,
					People: role.people(), Unknown: role.unknown()})
			}
		}
		implicit, err := r.implicit(t, all, file, isInHead)
		if err != nil {
			return nil, fmt.Errorf("%s: change type %q: %w", c.Path, t.Name, err)
		}
		out = append(out, implicit...)
	}
	return out, nil
}

// people returns the people of a role once each, in the order of names.
func (r *Role) people() []Person {
	return inOrder(slices.Clone(r.People))
}

// unknown names the groups whose members base does not know.
func (r *Role) unknown() (out []string) {
	for _, s := range r.Sources {
		out = append(out, s.String())
	}
	return out
}

// Join adds members whom a source names. It leaves unknown what is still unknown.
func (c *Context) Join(members []Person, unknown []string) {
	c.People, c.Unknown = inOrder(slices.Concat(c.People, members)), unknown
}

// inOrder returns people once each, in the order of names. Who is known now stands for the same person as they were
// known last.
func inOrder(all []Person) []Person {
	slices.SortFunc(all, func(a, b Person) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), laterFirst(a.KnownAt, b.KnownAt))
	})
	return slices.CompactFunc(all, func(a, b Person) bool { return a.Name == b.Name })
}

// laterFirst compares when two people were known; zero is now.
func laterFirst(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return a.Compare(b)
	}
	return b.Compare(a)
}

// owning returns the roles that bind what was resolved, or a type that inherits from it.
func (r *Rules) owning(of resolved) []*Role {
	names := append(slices.Sorted(maps.Keys(of.origin.heirs)), of.origin.Name)
	var out []*Role
	add := func(roles []*Role) {
		for _, role := range roles {
			if !slices.Contains(out, role) {
				out = append(out, role)
			}
		}
	}
	for _, name := range names {
		add(r.byFile[binding{of.owned.Kind, of.owned.Path, name}])
	}
	if of.owned.Schema != "" {
		add(r.anyFile[anyBinding{of.owned.Schema, of.origin.Name}])
	}
	return out
}

// implicit returns the contexts of the owners whom a file names itself: base's content, or that of a new file.
func (r *Rules) implicit(t *Type, all []resolved, f fileChange, isInHead func(string) bool) ([]*Context, error) {
	if len(t.implicit) == 0 {
		return nil, nil
	}
	of := f.old
	if difference.IsEmpty(of) {
		of = f.new
	}
	if o, isObject := of.(map[string]any); isObject && f.ref.Kind == content.Datafile {
		with := maps.Clone(o)
		with["path"], with["$schema"] = f.ref.Path, f.ref.Schema
		of = with
	}
	var out []*Context
	for _, s := range t.implicit {
		paths, err := s.texts(of)
		if err != nil {
			return nil, err
		}
		var people []Person
		var unknown []string
		for _, path := range paths {
			if p, isKnown := r.People[path]; isKnown && p.Name != "" {
				people = append(people, p)
			} else if isInHead != nil && isInHead(path) {
				unknown = append(unknown, path)
			}
		}
		if len(people)+len(unknown) == 0 {
			continue
		}
		for _, one := range all {
			if one.file == f.ref {
				out = append(out, &Context{Type: t, Origin: one.origin, File: one.file, Owned: one.owned,
					People: inOrder(slices.Clone(people)), Unknown: unknown})
			}
		}
	}
	return out, nil
}

// Unbound returns the contexts that a changed file would have if somebody were bound to them: types with the files that
// lead to owners, without people.
func (r *Rules) Unbound(c *content.Change, w content.World) ([]*Context, error) {
	var out []*Context
	f := &finder{rules: r, world: w, steps: maxSteps, looks: maxLooks}
	for _, t := range r.Types {
		all, err := f.resolve(t, fileChange{c.Ref, c.Old, c.New, c.Referring()}, map[step]bool{})
		if err != nil {
			return nil, err
		}
		for _, of := range all {
			out = append(out, &Context{Type: t, Origin: of.origin, File: of.file, Owned: of.owned})
		}
	}
	return out, nil
}
