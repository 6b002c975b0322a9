package validator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/bundle"
)

// Limits on the check of one file, far above what real ones need: 4 million
// steps are a second's work.
const (
	maxSteps = 4_000_000
	maxHops  = 200 // schemas, one applying the next to the same value
	maxFlaws = 10_000
)

// An evaluation checks one value against schemas. Flaws and notes are lists
// that grow; what an alternative that does not count has added is cut off.
type evaluation struct {
	at    []step
	flaws []flaw
	notes []note
	steps int
	hops  int
	over  string // why it was given up
	where string // the place at that time
}

// A note is a place to which a schema says more than JSON schema does.
type note struct {
	at    string
	node  *node
	value any
}

// check applies a schema to the value at the current place and tells whether it
// fits.
func (e *evaluation) check(n *node, v any) bool {
	before := len(e.flaws)
	e.steps++
	e.hops++
	defer func() { e.hops-- }()
	switch {
	case e.over != "":
		return false
	case e.steps > maxSteps:
		e.over, e.where = "checking it takes too many steps", pointer(e.at)
		return false
	case len(e.flaws) > maxFlaws:
		e.over, e.where = "it has too many mistakes", pointer(e.at)
		return false
	case e.hops > maxHops:
		e.over, e.where = "its schema applies to itself again and again", pointer(e.at)
		return false
	case n.always != nil:
		if !*n.always {
			e.flaw(kind, func() string { return "nothing is allowed here" })
		}
		return len(e.flaws) == before
	}
	if n.schemaRef != nil || n.resource {
		e.notes = append(e.notes, note{pointer(e.at), n, v})
	}
	if n.ref != nil {
		return e.check(n.ref, v)
	}
	if e.checkType(n, v) {
		switch v := v.(type) {
		case *bundle.Object:
			e.object(n, v)
		case []any:
			e.list(n, v)
		case string:
			e.text(n, v)
		case bundle.Number:
			e.number(n, v)
		}
	}
	e.combined(n, v)
	return len(e.flaws) == before
}

// below applies a schema to a value one step deeper.
func (e *evaluation) below(s step, n *node, v any) bool {
	hops := e.hops
	e.at, e.hops = append(e.at, s), 0
	ok := e.check(n, v)
	e.at, e.hops = e.at[:len(e.at)-1], hops
	return ok
}

// checkType checks type and enum. The rest is only worth telling when the type
// fits.
func (e *evaluation) checkType(n *node, v any) bool {
	if len(n.types) > 0 && !slices.ContainsFunc(n.types, func(t string) bool { return hasType(v, t) }) {
		e.flaw(kind, func() string { return "got " + typeOf(v) + ", want " + strings.Join(n.types, " or ") })
		return false
	}
	for _, enum := range n.enums {
		if slices.ContainsFunc(enum, func(want any) bool { return same(want, v) }) {
			continue
		}
		w := choice
		if len(enum) == 1 {
			w = tag
		}
		e.flaws = append(e.flaws, flaw{at: pointer(e.at), weight: w, got: v, want: enum})
	}
	return true
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case bundle.Number:
		if isInteger(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func hasType(v any, name string) bool {
	got := typeOf(v)
	return got == name || got == "integer" && name == "number"
}

func (e *evaluation) text(n *node, s string) {
	if n.minLength != nil || n.maxLength != nil {
		e.count(utf8.RuneCountInString(s), n.minLength, n.maxLength, "characters")
	}
	if n.pattern != nil && !n.pattern.MatchString(s) {
		e.flaw(plain, func() string { return show(s) + " does not match the pattern " + show(n.pattern.text) })
	}
}

func (e *evaluation) number(n *node, v bundle.Number) {
	if len(n.bounds) == 0 {
		return
	}
	value := rational(v)
	for _, b := range n.bounds {
		if !b.holds(value, b.limit) {
			e.flawf("%s must be %s %s", show(v), b.words, b.limit.RatString())
		}
	}
}

// count checks a size against its limits.
func (e *evaluation) count(got int, least, most *int, of string) {
	if least != nil && got < *least {
		e.flawf("has %d %s, needs at least %d", got, of, *least)
	}
	if most != nil && got > *most {
		e.flawf("has %d %s, may have at most %d", got, of, *most)
	}
}

func (e *evaluation) object(n *node, o *bundle.Object) {
	e.count(o.Len(), n.minProps, n.maxProps, "keys")
	for _, key := range n.required {
		if !o.Has(key) {
			e.flaw(plain, func() string { return "the key " + show(key) + " is missing" })
		}
	}
	for _, d := range n.needs {
		if !o.Has(d.key) {
			continue
		}
		for _, key := range d.required {
			if !o.Has(key) {
				e.flawf("the key %s is missing, which %s needs", show(key), show(d.key))
			}
		}
		if d.node != nil {
			e.check(d.node, o)
		}
	}
	for _, m := range o.Members() {
		e.member(n, m)
	}
}

func (e *evaluation) member(n *node, m bundle.Member) {
	if n.names != nil {
		e.below(step{key: m.Key}, n.names, m.Key)
	}
	known := false
	if sub, ok := n.props[m.Key]; ok {
		known = true
		e.below(step{key: m.Key}, sub, m.Value)
	}
	for _, p := range n.patterns {
		if p.pattern.MatchString(m.Key) {
			known = true
			e.below(step{key: m.Key}, p.node, m.Value)
		}
	}
	switch {
	case known:
	case n.more.node != nil:
		e.below(step{key: m.Key}, n.more.node, m.Value)
	case n.more.forbidden:
		e.at = append(e.at, step{key: m.Key})
		e.flaw(plain, func() string {
			return "the key " + show(m.Key) + " is not allowed" + meant(m.Key, slices.Sorted(maps.Keys(n.props)))
		})
		e.at = e.at[:len(e.at)-1]
	}
}

func (e *evaluation) list(n *node, items []any) {
	e.count(len(items), n.minItems, n.maxItems, "items")
	for i, item := range items {
		here := step{index: i, item: true}
		switch {
		case n.items != nil:
			e.below(here, n.items, item)
		case i < len(n.tuple):
			e.below(here, n.tuple[i], item)
		case n.moreItems.node != nil:
			e.below(here, n.moreItems.node, item)
		case n.moreItems.forbidden:
			e.flawf("has %d items, may have at most %d", len(items), len(n.tuple))
			return
		}
	}
	if n.unique {
		e.uniqueItems(items)
	}
	if n.contains != nil {
		e.containsOne(n.contains, items)
	}
}

func (e *evaluation) uniqueItems(items []any) {
	first := make(map[string]int, len(items))
	for i, item := range items {
		text := bundle.Canonical(normal(item))
		if j, ok := first[text]; ok {
			e.flawf("the items %d and %d are equal", j, i)
			return
		}
		first[text] = i
	}
}

func (e *evaluation) containsOne(n *node, items []any) {
	for i, item := range items {
		flaws := len(e.flaws)
		ok := e.below(step{index: i, item: true}, n, item)
		e.flaws = e.flaws[:flaws]
		if ok {
			return
		}
	}
	e.flawf("no item is of the kind that the list must contain")
}

// flaw notes a mistake at the current place. Most are in alternatives that do
// not count, so the words are put together when they are asked for.
func (e *evaluation) flaw(w weight, say func() string) {
	e.flaws = append(e.flaws, flaw{at: pointer(e.at), weight: w, say: say})
}

// flawf is flaw for words that cost little.
func (e *evaluation) flawf(format string, args ...any) {
	e.flaw(plain, func() string { return fmt.Sprintf(format, args...) })
}
