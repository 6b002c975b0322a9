package validator

import (
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A uniqueValue is a value of a field that must be unique.
type uniqueValue struct {
	typ, field string
	value      string // canonical text of the value
	at         string
	path       bundle.Path
}

// A fileWalk walks through one datafile and its GraphQL types at the same time.
type fileWalk struct {
	checker     *checker
	path        bundle.Path
	at          []step
	values      []uniqueValue
	found       []Finding
	wantedTypes map[string]bool // types whose values are collected; nil for all
}

// walkFile walks through a datafile. It finds references without a target and list items
// that are not unique in their list, and collects the values that must be unique in the
// bundle.
func (c *checker) walkFile(f *bundle.File, o *bundle.Object) *fileWalk {
	w := &fileWalk{checker: c, path: f.Path}
	w.visit(o, typedPlace{typ: c.types.bySchema[f.Schema]})
	return w
}

func (w *fileWalk) visit(v any, s typedPlace) {
	switch v := v.(type) {
	case *bundle.Object:
		for _, m := range v.Members() {
			if m.Key == "$schema" {
				continue
			}
			w.at = append(w.at, step{key: m.Key})
			if m.Key == "$ref" {
				w.checkReference(m.Value)
			}
			w.visit(m.Value, s.child(w.checker.types, m.Key, m.Value))
			w.at = w.at[:len(w.at)-1]
		}
	case []any:
		w.checkContextUnique(v, s)
		for i, item := range v {
			w.at = append(w.at, step{index: i, item: true})
			w.visit(item, s.resolveInterface(w.checker.types, item))
			w.at = w.at[:len(w.at)-1]
		}
	default:
		if s.field != nil && s.field.isUnique && (w.wantedTypes == nil || w.wantedTypes[s.typ.name]) {
			w.values = append(w.values, uniqueValue{s.typ.name, s.field.name, bundle.Canonical(v), pointer(w.at), w.path})
		}
	}
}

func (w *fileWalk) addFinding(r Rule, message string) {
	w.found = append(w.found, Finding{Section: Data, Path: w.path, Pointer: pointer(w.at), Rule: r, Message: message})
}

// checkReference checks that the target of a reference exists.
func (w *fileWalk) checkReference(target any) {
	switch t := target.(type) {
	case *bundle.Object, []any:
		return // an ordinary key with the name $ref, not a reference
	case string:
		if _, ok := w.checker.head.Datafile(bundle.Path(t)); ok {
			return
		}
	}
	w.addFinding(RefGone, shortJSON(target)+" is not the path of a datafile")
}

// checkContextUnique finds the items of a list that have the same values in all fields that
// must distinguish them.
func (w *fileWalk) checkContextUnique(items []any, s typedPlace) {
	at := map[string][]int{}
	for i, item := range items {
		if id := w.checker.itemIdentity(item, s.resolveInterface(w.checker.types, item)); id != "" {
			at[id] = append(at[id], i)
		}
	}
	for id, places := range at {
		if len(places) < 2 {
			continue
		}
		fields, _, _ := strings.Cut(id, "\n")
		for _, i := range places {
			w.at = append(w.at, step{index: i, item: true})
			w.addFinding(ContextDuplicate, "the items "+listNumbers(places)+" have the same "+fields)
			w.at = w.at[:len(w.at)-1]
		}
	}
}

func listNumbers(list []int) string {
	const most = 10
	var words []string
	for _, n := range list[:min(len(list), most)] {
		words = append(words, strconv.Itoa(n))
	}
	if len(list) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}
