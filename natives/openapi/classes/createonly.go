package classes

import (
	"slices"

	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// createOnly decides whether a property cannot be changed once the resource is there. What a family knows comes first,
// then what PATCH takes, which proves that it can be changed, then what is declared, and last what requests differ in.
func (c *Classifier) createOnly(n *node, p *Property, in *inherited) error {
	if in.readOnly != nil || c.createOnlyOfFamily(n, in) {
		return nil
	}
	isPatched, err := c.isPatched(n)
	if err != nil {
		return err
	}
	if isPatched {
		in.createOnly = nil
	}
	if isPatched || in.createOnly != nil || in.mutable != nil {
		return nil
	}
	kept, err := c.transition(n, p.Required)
	if err != nil {
		return err
	}
	isDeclared, canUpdate := in.allows("update")
	_, canCreate := in.allows("create")
	switch {
	case isDeclared && canCreate && !canUpdate:
		in.createOnly = declared(in.mutability, "x-ms-mutability has create and lacks update")
	case kept != nil:
		in.createOnly = kept
	case canUpdate:
	case slices.Contains(c.family.Fixed, n.path):
		in.createOnly = c.ofFamily("it cannot be changed where nothing says that it can")
	default:
		in.createOnly, err = c.createOnlyOfRequests(n)
	}
	return err
}

// createOnlyOfFamily decides by what all services of a family do, and reports whether they settle it.
func (c *Classifier) createOnlyOfFamily(n *node, in *inherited) bool {
	if f, isKnown := c.fixed[n.path]; isKnown {
		in.createOnly, in.mutable = nil, nil
		if in.fixedIf = f.fixedIf; f.fixedIf != "" {
			return true
		}
		if !f.isMutable {
			in.createOnly = f.ground(c, n)
		} else {
			in.mutable = c.ofFamily("the API server takes another value")
		}
		return true
	}
	switch {
	case slices.Contains(c.family.CreateOnly, n.path):
		in.createOnly = c.ofFamily("no service of the family " + c.family.Name + " takes another value")
		if isDeclared, canUpdate := in.allows("update"); isDeclared && !canUpdate {
			in.createOnly = declared(in.mutability, "x-ms-mutability has create and lacks update")
		}
	case slices.Contains(c.family.Mutable, n.path):
		in.createOnly, in.mutable = nil, c.ofFamily("all services of the family "+c.family.Name+" take another value")
	default:
		return false
	}
	return true
}

func (c *Classifier) ofFamily(text string) *Ground { return &Ground{Source: ByFamily, Text: text} }

// isPatched reports whether PATCH takes a property, which proves that it can be changed also where a keyword of what
// PUT takes says otherwise. A PATCH that takes all that PUT takes proves nothing, and a keyword in what PATCH takes
// counts.
func (c *Classifier) isPatched(n *node) (bool, error) {
	if !n.patch.has() || n.path == "" {
		return false, nil
	}
	if c.patchLacks == nil {
		lacks, err := lacksSome(c.sides, 2)
		if err != nil {
			return false, err
		}
		c.patchLacks = &lacks
	}
	if !*c.patchLacks {
		return false, nil
	}
	for around := n; around != nil; around = around.parent {
		acts, err := around.patch.keyword("x-ms-mutability")
		if err != nil {
			return false, err
		}
		if of := acts.Value.Strings(); len(of) > 0 {
			return slices.Contains(of, "update"), nil
		}
	}
	return true, nil
}

// isCopy reports whether what PATCH takes repeats properties that the service fills in: it is a copy of the resource as
// it once was and no choice of what can be changed, so that what it lacks is only newer.
func isCopy(s sides) (bool, error) {
	const some = 2
	names, err := s.patch.schema.Properties()
	if err != nil {
		return false, err
	}
	filled := 0
	for _, name := range names {
		member, err := s.patch.child(step{property, name})
		if err != nil || !member.has() {
			return false, err
		}
		mark, err := member.keyword("readOnly")
		if err != nil {
			return false, err
		}
		if mark.Value.Is() {
			filled++
		}
	}
	return filled >= some, nil
}

// lacksSome reports whether PATCH lacks some property that PUT takes, in the first levels of the body.
func lacksSome(s sides, levels int) (bool, error) {
	if levels == 0 || !s.put.has() || !s.patch.has() {
		return false, nil
	}
	names, err := s.put.schema.Properties()
	if err != nil {
		return false, err
	}
	for _, name := range names {
		inner, err := s.child(step{property, name})
		if err != nil || inner.patch.presence == Missing {
			return err == nil, err
		}
		if lacks, err := lacksSome(inner, levels-1); err != nil || lacks {
			return lacks, err
		}
	}
	return false, nil
}

// createOnlyOfRequests decides by the requests that take a property and those that do not.
func (c *Classifier) createOnlyOfRequests(n *node) (*Ground, error) {
	switch {
	case c.patchKind == resources.PatchReal && n.post.presence == NoBody && n.put.has() && n.patch.presence == Missing:
		isProof, err := c.isProof(n)
		if err != nil || !isProof {
			return nil, err
		}
		return inferred(n.put, "PUT takes it and PATCH, which takes other properties, does not"), nil
	case n.post.has() && n.put.lacks() && n.patch.lacks():
		return inferred(n.post, "POST on the collection takes it and no request that changes the resource does"), nil
	}
	return nil, nil
}

// isProof reports whether it says something that PATCH lacks a property: PATCH takes another one of the same object of
// the resource. What it takes of tags and the like says nothing about properties.
func (c *Classifier) isProof(n *node) (bool, error) {
	top := n
	for top.parent != nil && top.parent.path != "" {
		top = top.parent
	}
	if slices.Contains(c.family.Free, top.path) {
		return false, nil
	}
	if top != n {
		isCopy, err := isCopy(top.sides)
		return top.patch.has() && !isCopy, err
	}
	names, err := c.sides.patch.schema.Properties()
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if !resources.IsEnvelope(name) && !slices.Contains(c.family.Free, name) && name != n.step.name {
			return true, nil
		}
	}
	return false, nil
}
