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

// changedFields returns the sorted JSON pointers at which two versions of a datafile
// differ. The pointer to a changed or removed value leads into the old version, the pointer
// to an added value into the new version. Items of lists are paired by identity, not by
// position. If the items of a list only changed their order, the pointer leads to the list.
// Metadata is included only if kind is Metadata.
func changedFields(old, new *File, kind Kind) []string {
	var out []string
	for _, d := range differences(old, new, kind) {
		out = append(out, d.pointer)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A difference is one place at which two versions of a datafile differ.
type difference struct {
	pointer  string
	kind     Kind
	old, new any // results of plainValue, or values of this package
}

// differences returns the differences that changedFields names, with their values.
func differences(old, new *File, kind Kind) []difference {
	var a aligner
	before, after := a.alignValues("", old.Object(), new.Object())
	patch, err := jsondiff.CompareWithoutMarshal(before, after)
	if err != nil { // impossible: only for types that JSON does not have
		return []difference{{"", Modified, old.Object(), new.Object()}}
	}
	kinds := map[string]Kind{jsondiff.OperationAdd: Added, jsondiff.OperationRemove: Removed}
	for _, op := range patch {
		a.found = append(a.found, difference{op.Path, cmp.Or(kinds[op.Type], Modified), op.OldValue, op.Value})
	}
	isData := func(d difference) bool { return !isMetadata(d.pointer) }
	if kind == Metadata || !slices.ContainsFunc(a.found, isData) { // an __identifier that is more than metadata
		return a.found
	}
	return slices.DeleteFunc(a.found, func(d difference) bool { return !isData(d) })
}

func isMetadata(pointer string) bool {
	return pointer == "/$file_sha256sum" || pointer == "/__identifier" || strings.HasSuffix(pointer, "/__identifier")
}

// An aligner converts two values to plain Go values for jsondiff. In the result, list items
// that belong together have the same key. It records the items without a partner itself.
type aligner struct {
	found []difference
}

func (a *aligner) alignValues(at string, old, new any) (any, any) {
	switch old := old.(type) {
	case *Object:
		if new, ok := new.(*Object); ok {
			return a.alignObjects(at, old, new)
		}
	case []any:
		if new, ok := new.([]any); ok {
			return a.alignLists(at, old, new)
		}
	}
	return plainValue(old), plainValue(new)
}

func (a *aligner) alignObjects(at string, old, new *Object) (any, any) {
	before, after := make(map[string]any, old.Len()), make(map[string]any, new.Len())
	for _, m := range old.members {
		if v, ok := new.Get(m.Key); ok {
			before[m.Key], after[m.Key] = a.alignValues(jsonpointer.Append(at, m.Key), m.Value, v)
		} else {
			before[m.Key] = plainValue(m.Value)
		}
	}
	for _, m := range new.members {
		if !old.Has(m.Key) {
			after[m.Key] = plainValue(m.Value)
		}
	}
	return before, after
}

// alignLists pairs the items of two lists and aligns each pair.
func (a *aligner) alignLists(at string, old, new []any) (any, any) {
	partners := pairItems(old, new)
	before, after := map[string]any{}, map[string]any{}
	paired := make([]bool, len(new))
	moved, last := false, -1
	for i, j := range partners {
		item := at + "/" + strconv.Itoa(i)
		if j < 0 {
			a.found = append(a.found, difference{item, Removed, old[i], nil})
			continue
		}
		paired[j] = true
		moved = moved || j < last
		last = j
		before[strconv.Itoa(i)], after[strconv.Itoa(i)] = a.alignValues(item, old[i], new[j])
	}
	for j := range new {
		if !paired[j] {
			a.found = append(a.found, difference{at + "/" + strconv.Itoa(j), Added, nil, new[j]})
		}
	}
	if moved {
		a.found = append(a.found, difference{at, Modified, old, new})
	}
	return before, after
}

// plainValue converts a value to the types of encoding/json. Numbers stay as they are
// written.
func plainValue(v any) any {
	switch v := v.(type) {
	case *Object:
		out := make(map[string]any, v.Len())
		for _, m := range v.members {
			out[m.Key] = plainValue(m.Value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plainValue(v[i])
		}
		return out
	case Number:
		return json.Number(v)
	}
	return v
}
