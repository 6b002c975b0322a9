package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/openapi"
	"github.com/app-sre/prcheck/plan"
)

// maxName is the length in bytes up to which a name is compared with others.
const maxName = 200

// unknown tells that the type has no property of a name, and which of its names is near.
func (w *walk) unknown(name string, at place, names []string) {
	message := "the type has no such property"
	if near := nearest(name, names); near != "" {
		message += fmt.Sprintf("; do you mean %q?", near)
	} else if len(names) > 0 {
		message += "; planner api show lists all"
	}
	w.mistake(CodeUnknown, at, nil, "%s", message)
}

// nearest returns the known name that has the fewest differences, without regard to case.
func nearest(name string, names []string) string {
	if len(name) > maxName {
		return ""
	}
	lower := map[string]string{}
	for _, n := range names {
		lower[strings.ToLower(n)] = n
	}
	if near := suggest.Words(strings.ToLower(name), slices.Sorted(maps.Keys(lower)), 1+len(name)/4); len(near) > 0 {
		return lower[near[0]]
	}
	return ""
}

// required checks that an object has what it must have.
func (w *walk) required(object map[string]any, at place, names []string) {
	for _, name := range names {
		inner := at.member(name)
		value, isThere := object[name]
		if value != nil || w.isGiven(inner.pointer) || w.typ.Rules.At(inner.pattern).ReadOnly {
			continue
		}
		severity, message := plan.SeverityError, "it is required"
		switch {
		case isThere:
			message = "it is required, and null would clear it"
		case w.given.IsPart:
			severity, message = plan.SeverityWarning, "it is required when the resource is created; the one that is there keeps its value"
		}
		w.add(Finding{Code: CodeRequired, Severity: severity, Pointer: inner.pointer, Pattern: inner.pattern, Exact: inner.exact, Message: message})
	}
}

// isGiven reports whether a property, or one inside of it, is given elsewhere.
func (w *walk) isGiven(pointer string) bool {
	return slices.ContainsFunc(w.given.Given, func(given string) bool {
		rest, ok := strings.CutPrefix(given, pointer)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// A variant is the form that an object takes by the value of one of its fields. A nil variant
// checks nothing.
type variant struct {
	field   string
	value   string          // "" if the object does not name it
	has     map[string]bool // the properties of this variant
	partial map[string]bool // the properties of some variants only
}

// variant finds the variant of an object, and checks the field that names it.
func (w *walk) variant(object map[string]any, at place, all *openapi.Variants) *variant {
	if all == nil || len(all.Values) == 0 {
		return nil
	}
	out := &variant{field: all.Field, has: map[string]bool{}, partial: map[string]bool{}}
	count := map[string]int{}
	for _, names := range all.Values {
		for _, name := range names {
			count[name]++
		}
	}
	for name, n := range count {
		out.partial[name] = n < len(all.Values)
	}
	value, isText := object[all.Field].(string)
	names, isDeclared := all.Values[value]
	inner := at.member(all.Field)
	switch known := slices.Sorted(maps.Keys(all.Values)); {
	case !isText && object[all.Field] != nil:
		return nil // its type is wrong, and told
	case !isText:
		w.add(Finding{Code: CodeDiscriminator, Severity: plan.SeverityWarning, Pointer: inner.pointer, Pattern: inner.pattern, Exact: inner.exact,
			Message: fmt.Sprintf("nothing says which variant this is, so its own properties are not checked; it may be %s", list(known))})
		return nil
	case !isDeclared:
		message := fmt.Sprintf("there is no variant %q; there is %s", shorten(value), list(known))
		if near := nearest(value, known); near != "" {
			message = fmt.Sprintf("there is no variant %q; do you mean %q?", shorten(value), near)
		}
		w.mistake(CodeDiscriminator, inner, value, "%s", message)
		return nil
	}
	for _, name := range names {
		out.has[name] = true
	}
	out.value = value
	return out
}

// check checks that a property belongs to the variant.
func (v *variant) check(w *walk, name string, at place) {
	if v == nil || name == v.field || v.has[name] || !v.partial[name] {
		return
	}
	w.mistake(CodeUnknown, at, nil, "only other variants have it: %s is %q", v.field, shorten(v.value))
}

// list names the first of some words.
func list(words []string) string {
	const most = 10
	var out []string
	for _, word := range words[:min(len(words), most)] {
		out = append(out, shorten(word))
	}
	text := strings.Join(out, ", ")
	if more := len(words) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
