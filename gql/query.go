package gql

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Query is a request that was checked against a schema. It does not change,
// and several goroutines may use it at once.
type Query struct {
	schema    *Schema
	doc       *document
	op        *operation
	variables map[string]any
	fragments map[string]*fragment
	top       *plan // nil unless the operation is a query

	static func() *outline // see outline
}

func newQuery(s *Schema, doc *document, op *operation, variables map[string]any) *Query {
	q := &Query{schema: s, doc: doc, op: op, variables: variables, fragments: make(map[string]*fragment, len(doc.fragments))}
	for _, f := range doc.fragments {
		q.fragments[f.name] = f
	}
	if op.kind == "query" {
		q.top = q.plan(s.query, op.set)
	}
	q.static = sync.OnceValue(q.outline)
	doc.text.index()
	return q
}

// A plan is what selection sets come to on one object type: the fields to read,
// in the order of the answer.
type plan struct {
	on    *typeDef
	picks []*pick
	fault *Error // a condition without a value: reading fails
}

// A pick is one key of the answer.
type pick struct {
	key    string
	def    *fieldDef
	parent *typeDef
	nodes  []*fieldNode

	args  map[string]any
	fault *Error // the arguments are wrong: reading fails
	roots rootArgs

	one  atomic.Pointer[plan] // what is read of a value, for an object type
	lock sync.Mutex
	many map[*typeDef]*plan // the same for the types of an interface
}

// plan merges selection sets for an object type.
func (q *Query) plan(t *typeDef, sets ...*selectionSet) *plan {
	g := planner{q: q, plan: &plan{on: t}}
	for _, set := range sets {
		if set != nil && g.plan.fault == nil {
			g.set(set)
		}
	}
	for _, p := range g.plan.picks {
		q.prepare(p)
	}
	return g.plan
}

// A planner collects the fields of a plan. A fragment counts once.
type planner struct {
	q    *Query
	plan *plan
	seen map[*fragment]bool
	keys map[string]*pick // once there are many
}

func (g *planner) set(set *selectionSet) {
	for _, s := range set.selections {
		keep, err := g.q.included(s)
		if err != nil {
			g.plan.fault = err
			return
		}
		if !keep {
			continue
		}
		switch n := s.(type) {
		case *fieldNode:
			g.field(n)
		case *inlineNode:
			if n.on == "" || g.q.applies(n.on, g.plan.on) {
				g.set(n.set)
			}
		case *spreadNode:
			g.spread(g.q.fragments[n.name])
		}
		if g.plan.fault != nil {
			return
		}
	}
}

func (g *planner) spread(f *fragment) {
	if g.seen[f] {
		return
	}
	if g.seen == nil {
		g.seen = map[*fragment]bool{}
	}
	g.seen[f] = true
	if g.q.applies(f.on, g.plan.on) {
		g.set(f.set)
	}
}

// applies tells whether a fragment for a type is for the object type too.
func (q *Query) applies(on string, t *typeDef) bool {
	return on == t.name || t.is(q.schema.types[on])
}

func (g *planner) field(n *fieldNode) {
	key := n.key()
	if p := g.find(key); p != nil {
		p.nodes = append(p.nodes, n)
		return
	}
	p := &pick{key: key, parent: g.plan.on, def: g.q.schema.find(g.plan.on, n.name), nodes: []*fieldNode{n}}
	g.plan.picks = append(g.plan.picks, p)
	if g.keys != nil {
		g.keys[key] = p
	}
}

func (g *planner) find(key string) *pick {
	if g.keys != nil {
		return g.keys[key]
	}
	for _, p := range g.plan.picks {
		if p.key == key {
			return p
		}
	}
	if len(g.plan.picks) >= manyFields {
		g.keys = make(map[string]*pick, 2*manyFields)
		for _, p := range g.plan.picks {
			g.keys[p.key] = p
		}
	}
	return nil
}

// included evaluates the conditions of a selection.
func (q *Query) included(s selection) (bool, *Error) {
	for _, word := range []string{"skip", "include"} {
		for _, d := range s.notes() {
			if d.name != word {
				continue
			}
			v, _, err := q.schema.directive(word).args[0].value(d.arguments, q.variables)
			if err != nil {
				return false, q.argumentError(err, d.arguments[0])
			}
			if v == (word == "skip") {
				return false, nil
			}
		}
	}
	return true, nil
}

// argumentError is the error of an argument whose value only execution knows.
func (q *Query) argumentError(err error, given *argument) *Error {
	return &Error{Message: err.Error(), Code: CodeInternal, Locations: []Location{q.doc.text.locate(given.value.pos)}}
}

// prepare reads the arguments of a field.
func (q *Query) prepare(p *pick) {
	for _, a := range p.def.args {
		given := p.nodes[0].arguments
		v, ok, err := a.value(given, q.variables)
		if err != nil {
			p.fault = &Error{Message: err.Error(), Code: CodeInternal}
			if i := slices.IndexFunc(given, func(g *argument) bool { return g.name == a.name }); i >= 0 {
				p.fault = q.argumentError(err, given[i])
			}
			return
		}
		if ok {
			if p.args == nil {
				p.args = make(map[string]any, len(p.def.args))
			}
			p.args[a.name] = v
		}
	}
	if p.def.kind == resolveDatafiles {
		p.roots = q.schema.rootArgs(p.def, p.args)
	}
}

// below returns what the field selects of a value of an object type.
func (q *Query) below(p *pick, t *typeDef) *plan {
	if p.def.typ == t {
		if known := p.one.Load(); known != nil {
			return known
		}
		made := q.planBelow(p, t)
		p.one.Store(made)
		return made
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	made := p.many[t]
	if made == nil {
		if p.many == nil {
			p.many = map[*typeDef]*plan{}
		}
		made = q.planBelow(p, t)
		p.many[t] = made
	}
	return made
}

func (q *Query) planBelow(p *pick, t *typeDef) *plan {
	sets := make([]*selectionSet, len(p.nodes))
	for i, n := range p.nodes {
		sets[i] = n.set
	}
	return q.plan(t, sets...)
}

// maxLocations is the number of places that one error names.
const maxLocations = 100

// locations returns where the query selects a field.
func (q *Query) locations(p *pick) []Location {
	list := make([]Location, min(len(p.nodes), maxLocations))
	for i := range list {
		list[i] = q.doc.text.locate(p.nodes[i].pos)
	}
	return list
}

// text returns the value of an argument that is a string, or "".
func (p *pick) text(name string) string {
	s, _ := p.args[name].(string)
	return s
}
