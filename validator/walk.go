package validator

import (
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// A use is a value of a field that must be unique.
type use struct {
	typ, field string
	value      string // canonical text
	at         string
	path       bundle.Path
}

// A walk goes through one datafile with the GraphQL types in hand.
type walk struct {
	c     *checker
	path  bundle.Path
	at    []step
	uses  []use
	found []Finding
	limit map[string]bool // types of which uses are wanted; nil for all
}

// walkFile goes through a datafile: references that lead nowhere, values that
// must be unique, and list items that are alike.
func (c *checker) walkFile(f *bundle.File, o *bundle.Object) *walk {
	w := &walk{c: c, path: f.Path}
	w.value(o, spot{typ: c.types.bySchema[f.Schema]})
	return w
}

func (w *walk) value(v any, s spot) {
	switch v := v.(type) {
	case *bundle.Object:
		for _, m := range v.Members() {
			if m.Key == "$schema" {
				continue
			}
			w.at = append(w.at, step{key: m.Key})
			if m.Key == "$ref" {
				w.reference(m.Value)
			}
			w.value(m.Value, s.child(w.c.types, m.Key, m.Value))
			w.at = w.at[:len(w.at)-1]
		}
	case []any:
		w.alike(v, s)
		for i, item := range v {
			w.at = append(w.at, step{index: i, item: true})
			w.value(item, s.settle(w.c.types, item))
			w.at = w.at[:len(w.at)-1]
		}
	default:
		if s.field != nil && s.field.isUnique && (w.limit == nil || w.limit[s.typ.name]) {
			w.uses = append(w.uses, use{s.typ.name, s.field.name, bundle.Canonical(v), pointer(w.at), w.path})
		}
	}
}

func (w *walk) add(r Rule, message string) {
	w.found = append(w.found, Finding{Section: Data, Path: w.path, Pointer: pointer(w.at), Rule: r, Message: message})
}

// reference checks that the target of a reference exists.
func (w *walk) reference(target any) {
	switch t := target.(type) {
	case *bundle.Object, []any:
		return // a key of that name, not a reference
	case string:
		if _, ok := w.c.head.Datafile(bundle.Path(t)); ok {
			return
		}
	}
	w.add(RefGone, show(target)+" is not the path of a datafile")
}

// alike finds the items of a list that have the same values in all fields that
// must tell them apart.
func (w *walk) alike(items []any, s spot) {
	at := map[string][]int{}
	for i, item := range items {
		if id := w.c.identity(item, s.settle(w.c.types, item)); id != "" {
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
			w.add(ContextDuplicate, "the items "+numbers(places)+" have the same "+fields)
			w.at = w.at[:len(w.at)-1]
		}
	}
}

func numbers(list []int) string {
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

// identity names a list item by the fields that tell items apart, and their
// values; "" when there is nothing of the kind. A reference stands for its
// target.
func (c *checker) identity(item any, s spot) string {
	o, ok := item.(*bundle.Object)
	if !ok {
		return ""
	}
	if target := o.String("$ref"); target != "" {
		return c.targetIdentity(bundle.Path(target))
	}
	typ := s.object(c.types)
	if s.typ == nil || typ == nil || len(typ.context) == 0 {
		return ""
	}
	return identify(typ, o, true)
}

// targetIdentity names a datafile as a list item; it is computed once.
func (c *checker) targetIdentity(p bundle.Path) string {
	if id, ok := c.identities.Load(p); ok {
		return id.(string)
	}
	id := ""
	if f, ok := c.head.Datafile(p); ok {
		if typ := c.types.bySchema[f.Schema]; typ != nil && len(typ.context) > 0 {
			id = identify(typ, f.Decode(), false)
		}
	}
	c.identities.Store(p, id)
	return id
}

// identify uses what the bundler has computed from those fields, if it has. Of
// an object inside a list only single values and references count.
func identify(typ *gqlType, o *bundle.Object, inline bool) string {
	head := strings.Join(typ.context, ", ") + "\n"
	if id := o.String("__identifier"); id != "" {
		return head + id
	}
	some := false
	for _, name := range typ.context {
		v, _ := o.Get(name)
		if inline && !single(v) {
			v = nil
		}
		some = some || v != nil
		head += bundle.Canonical(v) + "\n"
	}
	if !some {
		return ""
	}
	return head
}

func single(v any) bool {
	switch v := v.(type) {
	case []any:
		return false
	case *bundle.Object:
		return v.String("$ref") != ""
	}
	return true
}
