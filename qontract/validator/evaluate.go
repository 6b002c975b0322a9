package validator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// Limits on the check of one file. Real files stay far below them: 4 million steps take
// about a second.
const (
	maxSteps       = 4_000_000
	maxChainLength = 200 // schemas that pass the same value on to the next one, as $ref does
	maxFlaws       = 10_000
)

// An evaluation checks one value against schemas. It appends to its lists of flaws and
// annotations. After an alternative that does not fit, the lists are cut back to their
// earlier length.
type evaluation struct {
	path        []step
	flaws       []flaw
	annotations []annotation
	steps       int
	chainLength int
	stopReason  string // why the evaluation was stopped; "" if it was not
	stopPointer string // where it was stopped
}

// An annotation is a value for which the schema uses a keyword of qontract that JSON schema
// does not have.
type annotation struct {
	at    string
	node  *schemaNode
	value any
}

// check checks the value at the current path against a schema, and reports whether it fits.
func (e *evaluation) check(n *schemaNode, v any) bool {
	before := len(e.flaws)
	e.steps++
	e.chainLength++
	defer func() { e.chainLength-- }()
	switch {
	case e.stopReason != "":
		return false
	case e.steps > maxSteps:
		e.stopReason, e.stopPointer = "checking it takes too many steps", pointer(e.path)
		return false
	case len(e.flaws) > maxFlaws:
		e.stopReason, e.stopPointer = "it has too many mistakes", pointer(e.path)
		return false
	case e.chainLength > maxChainLength:
		e.stopReason, e.stopPointer = "its schema refers to itself without end", pointer(e.path)
		return false
	case n.constant != nil:
		if !*n.constant {
			e.addFlaw(weightType, func() string { return "nothing is allowed here" })
		}
		return len(e.flaws) == before
	}
	if n.schemaRef != nil || n.isResourcePath {
		e.annotations = append(e.annotations, annotation{pointer(e.path), n, v})
	}
	if n.ref != nil {
		return e.check(n.ref, v)
	}
	if e.checkType(n, v) {
		switch v := v.(type) {
		case *bundle.Object:
			e.checkObject(n, v)
		case []any:
			e.checkList(n, v)
		case string:
			e.checkString(n, v)
		case bundle.Number:
			e.checkNumber(n, v)
		}
	}
	e.checkCombinations(n, v)
	return len(e.flaws) == before
}

// checkBelow checks a value one step below the current path.
func (e *evaluation) checkBelow(s step, n *schemaNode, v any) bool {
	hops := e.chainLength
	e.path, e.chainLength = append(e.path, s), 0
	ok := e.check(n, v)
	e.path, e.chainLength = e.path[:len(e.path)-1], hops
	return ok
}

// checkType checks type, enum and const. It returns false if the type is wrong, because
// other flaws are then not worth reporting.
func (e *evaluation) checkType(n *schemaNode, v any) bool {
	if len(n.types) > 0 && !slices.ContainsFunc(n.types, func(t string) bool { return hasType(v, t) }) {
		e.addFlaw(weightType, func() string { return "got " + typeOf(v) + ", want " + strings.Join(n.types, " or ") })
		return false
	}
	for _, enum := range n.allowedValues {
		if slices.ContainsFunc(enum, func(want any) bool { return equalJSON(want, v) }) {
			continue
		}
		w := weightChoice
		if len(enum) == 1 {
			w = weightTag
		}
		e.flaws = append(e.flaws, flaw{at: pointer(e.path), weight: w, got: v, want: enum})
	}
	return true
}

// typeOf returns the type of a value in JSON schema.
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

// hasType reports whether a value has a type of JSON schema. An integer is also a number.
func hasType(v any, name string) bool {
	got := typeOf(v)
	return got == name || got == "integer" && name == "number"
}

func (e *evaluation) checkString(n *schemaNode, s string) {
	if n.minLength != nil || n.maxLength != nil {
		e.checkSize(utf8.RuneCountInString(s), n.minLength, n.maxLength, "characters")
	}
	if n.pattern != nil && !n.pattern.MatchString(s) {
		e.addFlaw(weightPlain, func() string {
			return shortJSON(s) + " does not match the pattern " + shortJSON(n.pattern.text)
		})
	}
}

func (e *evaluation) checkNumber(n *schemaNode, v bundle.Number) {
	for _, l := range n.numberLimits {
		if !l.holds(v) {
			e.addFlawf("%s must be %s", shortJSON(v), l.words)
		}
	}
}

// checkSize checks a size against its limits. unit names the things that are counted, such
// as "items".
func (e *evaluation) checkSize(got int, minimum, maximum *int, unit string) {
	if minimum != nil && got < *minimum {
		e.addFlawf("has %d %s, needs at least %d", got, unit, *minimum)
	}
	if maximum != nil && got > *maximum {
		e.addFlawf("has %d %s, may have at most %d", got, unit, *maximum)
	}
}

func (e *evaluation) checkObject(n *schemaNode, o *bundle.Object) {
	e.checkSize(o.Len(), n.minProperties, n.maxProperties, "keys")
	for _, key := range n.required {
		if !o.Has(key) {
			e.addFlaw(weightPlain, func() string { return "the key " + shortJSON(key) + " is missing" })
		}
	}
	for _, d := range n.dependencies {
		if !o.Has(d.key) {
			continue
		}
		for _, key := range d.required {
			if !o.Has(key) {
				e.addFlawf("the key %s is missing, which %s needs", shortJSON(key), shortJSON(d.key))
			}
		}
		if d.node != nil {
			e.check(d.node, o)
		}
	}
	for _, m := range o.Members() {
		e.checkMember(n, m)
	}
}

func (e *evaluation) checkMember(n *schemaNode, m bundle.Member) {
	if n.propertyNames != nil {
		e.checkBelow(step{key: m.Key}, n.propertyNames, m.Key)
	}
	known := false
	if sub, ok := n.properties[m.Key]; ok {
		known = true
		e.checkBelow(step{key: m.Key}, sub, m.Value)
	}
	for _, p := range n.patternProperties {
		if p.pattern.MatchString(m.Key) {
			known = true
			e.checkBelow(step{key: m.Key}, p.node, m.Value)
		}
	}
	switch {
	case known:
	case n.additionalProperties.node != nil:
		e.checkBelow(step{key: m.Key}, n.additionalProperties.node, m.Value)
	case n.additionalProperties.forbidden:
		e.path = append(e.path, step{key: m.Key})
		e.addFlaw(weightPlain, func() string {
			return "the key " + shortJSON(m.Key) + " is not allowed" + suggestion(m.Key, slices.Sorted(maps.Keys(n.properties)))
		})
		e.path = e.path[:len(e.path)-1]
	}
}

func (e *evaluation) checkList(n *schemaNode, items []any) {
	e.checkSize(len(items), n.minItems, n.maxItems, "items")
	for i, item := range items {
		here := step{index: i, item: true}
		switch {
		case n.items != nil:
			e.checkBelow(here, n.items, item)
		case i < len(n.tuple):
			e.checkBelow(here, n.tuple[i], item)
		case n.additionalItems.node != nil:
			e.checkBelow(here, n.additionalItems.node, item)
		case n.additionalItems.forbidden:
			e.addFlawf("has %d items, may have at most %d", len(items), len(n.tuple))
			return
		}
	}
	if n.uniqueItems {
		e.checkUniqueItems(items)
	}
	if n.contains != nil {
		e.checkContains(n.contains, items)
	}
}

func (e *evaluation) checkUniqueItems(items []any) {
	first := make(map[string]int, len(items))
	for i, item := range items {
		text := bundle.Canonical(normalize(item))
		if j, ok := first[text]; ok {
			e.addFlawf("the items %d and %d are equal", j, i)
			return
		}
		first[text] = i
	}
}

func (e *evaluation) checkContains(n *schemaNode, items []any) {
	for i, item := range items {
		flaws := len(e.flaws)
		ok := e.checkBelow(step{index: i, item: true}, n, item)
		e.flaws = e.flaws[:flaws]
		if ok {
			return
		}
	}
	e.addFlawf("no item fits the schema that at least one item must fit (keyword \"contains\")")
}

// addFlaw records a flaw at the current path. Most flaws are in alternatives that are
// dropped later, so the message is only made when it is needed.
func (e *evaluation) addFlaw(w weight, describe func() string) {
	e.flaws = append(e.flaws, flaw{at: pointer(e.path), weight: w, describe: describe})
}

// addFlawf records a flaw of weight plain with a formatted message.
func (e *evaluation) addFlawf(format string, args ...any) {
	e.addFlaw(weightPlain, func() string { return fmt.Sprintf(format, args...) })
}
