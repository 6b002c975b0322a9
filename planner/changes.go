package planner

import (
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// Changes compares two bundles and writes the result down as a plan does.
func Changes(base, head *bundle.Bundle) plan.Changes { return changes(bundle.Compare(base, head)) }

// side writes a bundle down for the plan.
func side(ref string, b *bundle.Bundle, files SideFiles) plan.Side {
	return plan.Side{Ref: ref, SHA256: b.SHA256(), Commit: b.Commit(), Tree: files.Tree, Edited: files.Edited}
}

// changes writes a comparison down for the plan.
func changes(d *bundle.Diff) plan.Changes {
	c := plan.Changes{Datafiles: []plan.Datafile{}, Resources: []plan.Resource{}, Schemas: []string{}, GraphQL: []string{}}
	for _, f := range d.Datafiles {
		c.Datafiles = append(c.Datafiles, datafile(f))
	}
	for _, f := range d.Resources {
		_, now := schemas(f)
		c.Resources = append(c.Resources, plan.Resource{Path: string(f.Path), Schema: now, Kind: plan.Kind(f.Kind.String())})
	}
	for _, s := range d.Schemas {
		c.Schemas = append(c.Schemas, string(s))
	}
	c.GraphQL = append(c.GraphQL, d.GraphQL...)
	return c
}

// datafile writes a changed datafile down for the plan.
func datafile(f bundle.Change) plan.Datafile {
	old, now := schemas(f)
	if old == now {
		old = ""
	}
	return plan.Datafile{Path: string(f.Path), Schema: now, OldSchema: old, Kind: plan.Kind(f.Kind.String()),
		Fields: f.Fields}
}

// schemas returns the schema of a changed file before the change, and that of
// head, or of base when head removes it.
func schemas(f bundle.Change) (old, now string) {
	if f.Old != nil {
		old = string(f.Old.Schema)
	}
	now = old
	if f.New != nil {
		now = string(f.New.Schema)
	}
	if f.Old == nil {
		old = now
	}
	return old, now
}
