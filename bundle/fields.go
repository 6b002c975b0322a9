package bundle

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/wI2L/jsondiff"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// changedFields returns the JSON pointers at which two versions of a datafile
// differ, sorted. A pointer to something changed or removed leads into the old
// version, one to something added into the new. List items are paired by
// identity, not by place; a list whose items only changed their order is named
// itself. Of a modified datafile the metadata is left out.
func changedFields(old, new *File, kind Kind) []string {
	var out []string
	for _, d := range differences(old, new, kind) {
		out = append(out, d.pointer)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A difference is one place where two versions of a datafile differ.
type difference struct {
	pointer  string
	kind     Kind
	old, new any // values as plain returns them, or of this package
}

// differences returns what changedFields names, with the values.
func differences(old, new *File, kind Kind) []difference {
	var a aligner
	before, after := a.pair("", old.Object(), new.Object())
	patch, err := jsondiff.CompareWithoutMarshal(before, after)
	if err != nil { // only for types that JSON does not have
		return []difference{{"", Modified, old.Object(), new.Object()}}
	}
	kinds := map[string]Kind{jsondiff.OperationAdd: Added, jsondiff.OperationRemove: Removed}
	for _, op := range patch {
		a.found = append(a.found, difference{op.Path, cmp.Or(kinds[op.Type], Modified), op.OldValue, op.Value})
	}
	if kind == Metadata {
		return a.found
	}
	return slices.DeleteFunc(a.found, func(d difference) bool { return isMetadata(d.pointer) })
}

func isMetadata(pointer string) bool {
	return pointer == "/$file_sha256sum" || pointer == "/__identifier" || strings.HasSuffix(pointer, "/__identifier")
}

// An aligner turns two values into plain Go values for jsondiff in which the
// items of lists that belong together stand under one key, and notes the items
// that have no partner.
type aligner struct {
	found []difference
}

func (a *aligner) pair(at string, old, new any) (any, any) {
	switch old := old.(type) {
	case *Object:
		if new, ok := new.(*Object); ok {
			return a.objects(at, old, new)
		}
	case []any:
		if new, ok := new.([]any); ok {
			return a.lists(at, old, new)
		}
	}
	return plain(old), plain(new)
}

func (a *aligner) objects(at string, old, new *Object) (any, any) {
	before, after := make(map[string]any, old.Len()), make(map[string]any, new.Len())
	for _, m := range old.members {
		if v, ok := new.Get(m.Key); ok {
			before[m.Key], after[m.Key] = a.pair(jsonpointer.Append(at, m.Key), m.Value, v)
		} else {
			before[m.Key] = plain(m.Value)
		}
	}
	for _, m := range new.members {
		if !old.Has(m.Key) {
			after[m.Key] = plain(m.Value)
		}
	}
	return before, after
}

// lists pairs the items of two lists: first by identity, then those that are
// equal, then the rest of the objects and lists in order.
func (a *aligner) lists(at string, old, new []any) (any, any) {
	partner := partners(old, new)
	before, after := map[string]any{}, map[string]any{}
	taken := make([]bool, len(new))
	moved, last := false, -1
	for i, j := range partner {
		item := at + "/" + strconv.Itoa(i)
		if j < 0 {
			a.found = append(a.found, difference{item, Removed, old[i], nil})
			continue
		}
		taken[j] = true
		moved = moved || j < last
		last = j
		before[strconv.Itoa(i)], after[strconv.Itoa(i)] = a.pair(item, old[i], new[j])
	}
	for j := range new {
		if !taken[j] {
			a.found = append(a.found, difference{at + "/" + strconv.Itoa(j), Added, nil, new[j]})
		}
	}
	if moved {
		a.found = append(a.found, difference{at, Modified, old, new})
	}
	return before, after
}

// partners returns for each old item the index of the new item it belongs to,
// or -1.
func partners(old, new []any) []int {
	partner := make([]int, len(old))
	for i := range partner {
		partner[i] = -1
	}
	taken := make([]bool, len(new))
	match := func(name func(any) string) {
		free := map[string][]int{}
		for j := range new {
			if n := name(new[j]); !taken[j] && n != "" {
				free[n] = append(free[n], j)
			}
		}
		for i := range old {
			n := name(old[i])
			if js := free[n]; partner[i] < 0 && n != "" && len(js) > 0 {
				partner[i], free[n] = js[0], js[1:]
				taken[js[0]] = true
			}
		}
	}
	match(identity)
	match(Canonical)
	match(func(v any) string {
		if identity(v) != "" {
			return ""
		}
		switch v.(type) {
		case *Object:
			return "object"
		case []any:
			return "list"
		}
		return ""
	})
	return partner
}

// identity returns what tells a list item apart: its __identifier, or its
// target when it is a reference; "" when it has nothing of the kind.
func identity(v any) string {
	o, ok := v.(*Object)
	if !ok {
		return ""
	}
	if id := o.String("__identifier"); id != "" {
		return "id " + id
	}
	if to, ok := Ref(o); ok {
		return "ref " + string(to)
	}
	return ""
}

// plain turns a value into the types of encoding/json, numbers as written.
func plain(v any) any {
	switch v := v.(type) {
	case *Object:
		out := make(map[string]any, v.Len())
		for _, m := range v.members {
			out[m.Key] = plain(m.Value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case Number:
		return json.Number(v)
	}
	return v
}

// Canonical writes a value as compact JSON with sorted keys and numbers as
// they were written: equal values give equal text.
func Canonical(v any) string { return string(AppendCanonical(nil, v)) }

// AppendCanonical appends the canonical text of a value to a buffer.
func AppendCanonical(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case Number:
		return append(out, v...)
	case string:
		return strconv.AppendQuote(out, v)
	case []any:
		out = append(out, '[')
		for i := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendCanonical(out, v[i])
		}
		return append(out, ']')
	case *Object:
		members := slices.Clone(v.members)
		slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(strconv.AppendQuote(out, m.Key), ':')
			out = AppendCanonical(out, m.Value)
		}
		return append(out, '}')
	}
	panic("bundle: not a JSON value") // a programming error, never input
}
