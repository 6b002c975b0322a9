package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/plan"
)

// maxName is the length in bytes up to which a name is compared with others.
const maxName = 200

// unknown tells that the type has no property of a name, and which of its names is near. Names are
// those of the schemas.
func (w *walk) unknown(name string, at place, names [][]string) {
	message := "the type has no such property"
	if near := w.near.find(name, names...); near != "" {
		message += fmt.Sprintf("; do you mean %q?", near)
	} else if slices.ContainsFunc(names, func(some []string) bool { return len(some) > 0 }) {
		message += "; reconciler api show lists all"
	}
	w.mistake(CodeUnknown, at, nil, "%s", message)
}

// maxNear is how many words of one body are compared with those that are known.
const maxNear = 50

// nearNames counts the words of a body for which a near one was looked for.
type nearNames int

// find returns the known name that has the fewest differences, without regard to case. After the
// first words of a body it finds none.
func (n *nearNames) find(name string, known ...[]string) string {
	if len(name) > maxName || *n >= maxNear {
		return ""
	}
	*n++
	word, limit := strings.ToLower(name), 1+len(name)/4
	lower := map[string]string{}
	for _, names := range known {
		for _, k := range names {
			if l := strings.ToLower(k); max(len(l)-len(word), len(word)-len(l)) <= limit {
				lower[l] = k
			}
		}
	}
	if near := suggest.Words(word, slices.Sorted(maps.Keys(lower)), limit); len(near) > 0 {
		return lower[near[0]]
	}
	return ""
}

// required tells that a property is missing, or null, which an object must have.
func (w *walk) required(object map[string]any, at place, name string) {
	if w.isGiven(at.pointer) || w.typ.Rules.At(at.pattern).ReadOnly {
		return
	}
	severity, message := plan.SeverityError, "it is required"
	if _, isThere := object[name]; isThere {
		message = "it is required, and null would clear it"
	} else if w.given.IsPart {
		severity, message = plan.SeverityWarning, "it is required when the resource is created; the one that is there "+
			"keeps its value"
	}
	w.add(Violation{Code: CodeRequired, Severity: severity, Pointer: at.pointer, Pattern: at.pattern, Exact: at.exact,
		Message: message})
}

// isGiven reports whether a property, or one inside of it, is given elsewhere.
func (w *walk) isGiven(pointer string) bool {
	if _, isThere := slices.BinarySearch(w.given.Given, pointer); isThere {
		return true
	}
	i, _ := slices.BinarySearch(w.given.Given, pointer+"/")
	return i < len(w.given.Given) && strings.HasPrefix(w.given.Given[i], pointer+"/")
}

// A variant is the form that an object takes by the value of one of its fields. A nil variant
// checks nothing.
type variant struct {
	*forms
	value string
	has   map[string]bool // the properties of this variant
}

// forms are the variants of an object.
type forms struct {
	*openapi.Variants
	has     map[string]map[string]bool // the properties by the value of the field
	partial map[string]bool            // the properties of some variants only
	known   []string                   // the values, sorted
}

// formsOf returns the variants of a schema, nil if there are none.
func (t *Checker) formsOf(all *openapi.Variants) *forms {
	if all == nil || len(all.Values) == 0 {
		return nil
	}
	if f := t.forms[all]; f != nil {
		return f
	}
	f := &forms{Variants: all, has: map[string]map[string]bool{}, partial: map[string]bool{},
		known: slices.Sorted(maps.Keys(all.Values))}
	count := map[string]int{}
	for value, names := range all.Values {
		f.has[value] = map[string]bool{}
		for _, name := range names {
			count[name]++
			f.has[value][name] = true
		}
	}
	for name, n := range count {
		f.partial[name] = n < len(all.Values)
	}
	if t.forms == nil {
		t.forms = map[*openapi.Variants]*forms{}
	}
	t.forms[all] = f
	return f
}

// variant finds the variant of an object, and checks the field that names it.
func (w *walk) variant(object map[string]any, at place, all *forms) *variant {
	if all == nil {
		return nil
	}
	value, isText := object[all.Field].(string)
	inner := at.member(all.Field)
	switch has, isDeclared := all.has[value]; {
	case !isText && object[all.Field] != nil:
		return nil // its type is wrong, and told
	case !isText:
		w.add(Violation{Code: CodeDiscriminator, Severity: plan.SeverityWarning, Pointer: inner.pointer,
			Pattern: inner.pattern,
			Exact:   inner.exact,
			Message: fmt.Sprintf("nothing says which variant this is, so its own properties are not checked; it may be %s",
				list(all.known))})
		return nil
	case !isDeclared:
		message := fmt.Sprintf("there is no variant %q; there is %s", phrase.Cut(value, maxQuoted), list(all.known))
		if near := w.near.find(value, all.known); near != "" {
			message = fmt.Sprintf("there is no variant %q; do you mean %q?", phrase.Cut(value, maxQuoted), near)
		}
		w.mistake(CodeDiscriminator, inner, value, "%s", message)
		return nil
	default:
		return &variant{forms: all, value: value, has: has}
	}
}

// check checks that a property belongs to the variant.
func (v *variant) check(w *walk, name string, at place) {
	if v == nil || name == v.Field || v.has[name] || !v.partial[name] {
		return
	}
	w.mistake(CodeUnknown, at, nil, "only other variants have it: %s is %q", v.Field, phrase.Cut(v.value, maxQuoted))
}

// list names the first of some words.
func list(words []string) string {
	const most = 10
	var out []string
	for _, word := range words[:min(len(words), most)] {
		out = append(out, phrase.Cut(word, maxQuoted))
	}
	text := strings.Join(out, ", ")
	if more := len(words) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
