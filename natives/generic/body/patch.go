package body

import (
	"fmt"
	"strconv"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// Merge returns what a merge patch (RFC 7386) makes of a value.
func Merge(v, patch any) any {
	members, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	old, _ := v.(map[string]any)
	out := make(map[string]any, len(old)+len(members))
	for name, item := range old {
		out[name] = item
	}
	for name, item := range members {
		if item == nil {
			delete(out, name)
			continue
		}
		out[name] = Merge(out[name], item)
	}
	return out
}

// MergePatch returns the merge patch (RFC 7386) that makes one object of another. A merge
// patch cannot set a member of an object to null: null removes.
func MergePatch(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for name, item := range to {
		old, isThere := from[name]
		if item == nil {
			if isThere && old != nil {
				out[name] = nil
			}
			continue
		}
		oldMembers, wasObject := old.(map[string]any)
		members, isObject := item.(map[string]any)
		switch {
		case isObject && wasObject:
			if patch := MergePatch(oldMembers, members); len(patch) > 0 {
				out[name] = patch
			}
		case isObject:
			out[name] = WithoutNulls(item)
		case !isThere || Canonical(old) != Canonical(item):
			out[name] = item
		}
	}
	for name := range from {
		if _, stays := to[name]; !stays {
			out[name] = nil
		}
	}
	return out
}

// Get returns the value at a JSON pointer, and whether it is there. Items of a list are named
// by their index.
func Get(v any, pointer string) (any, bool) {
	for _, part := range jsonpointer.Split(pointer) {
		switch of := v.(type) {
		case map[string]any:
			item, ok := of[part]
			if !ok {
				return nil, false
			}
			v = item
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(of) || strconv.Itoa(i) != part {
				return nil, false
			}
			v = of[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Set returns a value with another one at a JSON pointer. Objects on the way that are missing
// are made; an item of a list must be there.
func Set(v any, pointer string, item any) (any, error) {
	return set(v, jsonpointer.Split(pointer), pointer, item)
}

func set(v any, parts []string, pointer string, item any) (any, error) {
	if len(parts) == 0 {
		return item, nil
	}
	switch of := v.(type) {
	case nil:
		inner, err := set(nil, parts[1:], pointer, item)
		return map[string]any{parts[0]: inner}, err
	case map[string]any:
		inner, err := set(of[parts[0]], parts[1:], pointer, item)
		if err != nil {
			return nil, err
		}
		out := make(map[string]any, len(of)+1)
		for name, member := range of {
			out[name] = member
		}
		out[parts[0]] = inner
		return out, nil
	case []any:
		i, err := strconv.Atoi(parts[0])
		if err != nil || i < 0 || i >= len(of) || strconv.Itoa(i) != parts[0] {
			return nil, fmt.Errorf("%q: the list has no item %q", pointer, parts[0])
		}
		inner, err := set(of[i], parts[1:], pointer, item)
		if err != nil {
			return nil, err
		}
		out := append([]any(nil), of...)
		out[i] = inner
		return out, nil
	}
	return nil, fmt.Errorf("%q: %q is inside of a value that is neither an object nor a list", pointer, parts[0])
}
