package validate

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/plan"
)

// A walk goes through one body.
type walk struct {
	typ    *Checker
	given  Body // what is given elsewhere is sorted
	each   func(Violation) (goOn bool)
	told   map[uint64]bool // hashes of the code and the pointer of each finding
	seed   maphash.Seed
	near   nearNames
	work   int  // done since somebody asked for the time
	isDone bool // nobody wants to know more

	pattern string // of the rule that was asked for last
	last    rules.Rule
}

// A place is a property of the body.
type place struct {
	pointer string // as findings show it
	pattern string // with * for the items of lists, as rules have it
	exact   string // with the indexes of items
	depth   int
}

// member returns the place of a member. Outside of lists its three texts are one.
func (p place) member(name string) place {
	out := place{pointer: jsonpointer.Append(p.pointer, name), depth: p.depth + 1}
	out.pattern, out.exact = out.pointer, out.pointer
	if p.pattern != p.pointer {
		out.pattern = jsonpointer.Append(p.pattern, name)
	}
	if p.exact != p.pointer {
		out.exact = jsonpointer.Append(p.exact, name)
	}
	return out
}

// item returns the place of an item. The pattern is that of all items of the list.
func (p place) item(i int, keys, pattern string) place {
	index := strconv.Itoa(i)
	if keys == "" {
		keys = index
	}
	out := place{pointer: p.pointer + "/" + keys, pattern: pattern, depth: p.depth + 1}
	if out.exact = out.pointer; keys != index || p.exact != p.pointer {
		out.exact = p.exact + "/" + index
	}
	return out
}

// add tells a finding, unless it is told already.
func (w *walk) add(f Violation) {
	if w.isDone {
		return
	}
	var hash maphash.Hash
	hash.SetSeed(w.seed)
	_, _ = hash.WriteString(string(f.Code) + " ") // a hash takes everything
	_, _ = hash.WriteString(f.Pointer)
	if id := hash.Sum64(); !w.told[id] {
		w.told[id] = true
		w.isDone = !w.each(f)
	}
}

// isOver reports whether the walk ends before a value, and tells so if there is no more time. A
// long text counts as many values, for its pattern has to be matched.
func (w *walk) isOver(v any) bool {
	const often, perValue = 256, 64
	w.work++
	if text, isText := v.(string); isText {
		w.work += len(text) / perValue
	}
	if w.work < often || w.isDone {
		return w.isDone
	}
	w.work = 0
	if w.given.Stop != nil && w.given.Stop() {
		w.add(Violation{Code: CodeTime, Severity: plan.SeverityError, Message: TimeMessage})
		w.isDone = true
	}
	return w.isDone
}

// mistake adds an error.
func (w *walk) mistake(code plan.FindingCode, at place, value any, format string, args ...any) {
	w.add(Violation{Code: code, Severity: plan.SeverityError, Pointer: at.pointer, Pattern: at.pattern, Exact: at.exact,
		Value: value, Message: fmt.Sprintf(format, args...)})
}

// value checks a value against the schemas that describe it.
func (w *walk) value(v any, at place, schemas []*openapi.Schema) {
	switch {
	case w.isOver(v):
		return
	case at.depth > maxDepth:
		w.mistake(CodeBounds, at, nil, "it stands more than %d levels deep; what is inside is not checked", maxDepth)
		return
	case len(at.pointer) > maxPath && !isLeaf(v) && v != nil:
		w.mistake(CodeBounds, at, nil, "its path has more than %d bytes; what is inside is not checked", maxPath)
		return
	}
	rule := w.rule(at)
	if rule.Doubt != "" {
		w.mistake(plan.FindingCode(openapi.CodeLoad), at, nil, "the specification cannot be read here: %s", rule.Doubt)
		return
	}
	if w.isFixed(v, at) || !w.mayBeSet(v, at, rule) || v == nil {
		return
	}
	s, err := w.typ.shape(v, rule, schemas, &w.near)
	if err != nil {
		w.broken(at, err)
		return
	}
	for _, m := range s.wrong {
		w.add(Violation{Code: m.code, Severity: m.severity, Pointer: at.pointer, Pattern: at.pattern, Exact: at.exact,
			Value: w.shown(v, rule), Message: m.text})
	}
	switch v := v.(type) {
	case map[string]any:
		w.object(v, at, s)
	case []any:
		w.list(v, at, rule, s)
	}
}

// rule returns the rule of a place. The items of a list have one, so the last one is remembered.
func (w *walk) rule(at place) rules.Rule {
	if at.pattern == "" {
		return rules.Rule{}
	}
	if at.pattern != w.pattern || rules.IsSpecific(w.typ.Rules) {
		w.pattern, w.last = at.pattern, rules.Find(w.typ.Rules, at.pattern, at.pointer)
	}
	return w.last
}

// broken tells that a specification cannot be read where it describes a property.
func (w *walk) broken(at place, err error) {
	w.mistake(plan.FindingCode(openapi.CodeOf(err)), at, nil, "the specification cannot be read here: %s",
		openapi.MessageOf(err))
}

// isFixed checks a part of the identity, and reports whether the value is one.
func (w *walk) isFixed(v any, at place) bool {
	want, ok := w.given.Fixed[at.exact]
	if !ok {
		return false
	}
	if got, isText := v.(string); v != nil && (!isText || got != want) {
		w.mistake(CodeIdentity, at, v, "it is a part of the identity of the resource, which is %q; leave it out here",
			phrase.Cut(want, maxQuoted))
	}
	return true
}

// mayBeSet checks what nobody may write into the data, and reports whether the value needs to
// be checked further.
func (w *walk) mayBeSet(v any, at place, rule rules.Rule) bool {
	switch {
	case rule.ReadOnly:
		if object, ok := v.(map[string]any); !ok || len(object) > 0 {
			w.mistake(CodeReadOnly, at, w.shown(v, rule), "it is read-only: the service fills it in%s; remove it from the data",
				because(rule))
		}
		return false
	case rule.Secret && isLeaf(v):
		w.mistake(CodeSecret, at, nil, "it is a secret%s; take the value out of the data, change the secret, and name it "+
			"below secrets", because(rule))
		return false
	}
	return true
}

// because names the ground of a rule.
func because(rule rules.Rule) string {
	if rule.Ground == "" {
		return ""
	}
	text := " (" + rule.Ground
	if rule.Place != "" {
		text += ", at " + phrase.Cut(rule.Place, maxQuoted)
	}
	return text + ")"
}

// shown returns a value if it may be shown.
func (w *walk) shown(v any, rule rules.Rule) any {
	if rule.Secret || rule.Masked || rule.WriteOnly {
		return nil
	}
	return v
}

// isLeaf reports whether a value is a text, a number or a truth value.
func isLeaf(v any) bool {
	switch v.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}

// object checks the members of an object.
func (w *walk) object(object map[string]any, at place, s shape) {
	variant := w.variant(object, at, s.forms)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if w.isOver(nil) {
			return
		}
		inner := at.member(name)
		if !s.members[name].isKnown {
			if rule := w.typ.Rules.At(inner.pattern); rule.ReadOnly { // GET alone has it
				w.mayBeSet(object[name], inner, rule)
				continue
			}
			w.unknown(name, inner, s.names)
			continue
		}
		variant.check(w, name, inner)
		w.value(object[name], inner, s.members[name].schemas)
	}
	for _, name := range s.required {
		isTold := s.forms != nil && name == s.forms.Field
		if object[name] == nil && !isTold && !w.isOver(nil) {
			w.required(object, at.member(name), name)
		}
	}
}

// list checks the items of a list.
func (w *walk) list(list []any, at place, rule rules.Rule, s shape) {
	seen, pattern := map[string]bool{}, at.pattern+"/*"
	rule = rule.Keyed(w.typ.Rules.At, at.pattern, list, nil, nil)
	for i, item := range list {
		if w.isDone {
			return
		}
		keys := ""
		if rule.List == classes.Map {
			keys = w.keys(item, at, i, rule, seen)
		}
		w.value(item, at.item(i, keys, pattern), s.items)
	}
}

// keys returns the keys of an item of a list as a part of a pointer, "" if it has none, and
// checks that no other item has them.
func (w *walk) keys(item any, list place, i int, rule rules.Rule, seen map[string]bool) string {
	id, name := rules.Identify(w.typ.Rules.At, list.pattern, rule, item)
	keys := jsonpointer.Escape(name)
	if seen[id] {
		w.mistake(reconcile.CodeDuplicate, list.item(i, keys, list.pattern+"/*"), nil,
			"another item of the list has the same %s; remove one of them", strings.Join(rule.Keys, ", "))
	}
	seen[id] = true
	return keys
}

// maxQuoted is the length in bytes up to which foreign text is quoted.
const maxQuoted = 100
