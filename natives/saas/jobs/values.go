package jobs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// An unknown value stands where nobody knows the value; the text says why.
type unknown string

// merged returns the fields of two objects; those of the second one win.
func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// isSame reports whether two values are the same, and known.
func isSame(a, b any) bool { return reflect.DeepEqual(a, b) && !hasUnknown(a) }

// hasUnknown reports whether any part of a value is unknown.
func hasUnknown(v any) bool {
	switch v := v.(type) {
	case unknown:
		return true
	case []any:
		return slices.ContainsFunc(v, hasUnknown)
	case map[string]any:
		for _, of := range v {
			if hasUnknown(of) {
				return true
			}
		}
	}
	return false
}

// shown returns a value for a message.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.60q", v)
	case unknown:
		return fmt.Sprintf("(%.100s)", string(v))
	}
	return fmt.Sprintf("of type %T", v)
}

// nameAndValues reads an entry of a list of jobs: a name, or a name with values.
func nameAndValues(entry any) (string, map[string]any, bool) {
	switch entry := entry.(type) {
	case string:
		return entry, nil, true
	case map[string]any:
		if len(entry) != 1 {
			return "", nil, false
		}
		for name, v := range entry {
			values, isObject := v.(map[string]any)
			return name, values, isObject || v == nil
		}
	}
	return "", nil, false
}

// combinations calls a function with the values for each combination of the lists that a name
// uses. An entry of a list is a value, or a value with more values that come with it. An error
// ends it. What is left is how many steps may still be made.
func combinations(name string, values map[string]any, left *int, do func(map[string]any) error) error {
	var axes []string
	for _, axis := range variables(name) {
		if _, isList := values[axis].([]any); isList && !slices.Contains(axes, axis) {
			axes = append(axes, axis)
		}
	}
	var walk func(i int, with map[string]any) error
	walk = func(i int, with map[string]any) error {
		if i == len(axes) {
			return do(with)
		}
		for _, v := range values[axes[i]].([]any) {
			if *left -= 1 + len(with)/10; *left < 0 {
				return errTooLarge
			}
			next := maps.Clone(with)
			next[axes[i]] = v
			if object, isObject := v.(map[string]any); isObject {
				value, more, ok := nameAndValues(object)
				if !ok {
					return fmt.Errorf("an entry of %.60s cannot be read", axes[i])
				}
				next[axes[i]] = value
				maps.Copy(next, more)
			}
			if err := walk(i+1, next); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(0, values)
}

// isExcluded reports whether a combination has all values of an entry of exclude. A value that is
// not known excludes nothing, so that the job is taken to be there.
func isExcluded(with map[string]any, entry any) bool {
	object, _ := entry.(map[string]any)
	for key, v := range object {
		if !isSame(with[key], v) {
			return false
		}
	}
	return len(object) > 0
}

// repository returns the address of the repository of a job: that of the property github.
func repository(properties any) string {
	list, _ := properties.([]any)
	for _, p := range list {
		of, _ := p.(map[string]any)
		github, _ := of["github"].(map[string]any)
		if address, isText := github["url"].(string); isText {
			return plainURL(address)
		}
	}
	return ""
}

// branch returns the branch of a job: the first one of its git repository. A pattern of branches
// is none.
func branch(scm any) string {
	list, _ := scm.([]any)
	if len(list) != 1 {
		return ""
	}
	of, _ := list[0].(map[string]any)
	git, _ := of["git"].(map[string]any)
	branches, _ := git["branches"].([]any)
	if len(branches) != 1 {
		return ""
	}
	name, _ := branches[0].(string)
	for _, prefix := range []string{"refs/heads/", "refs/remotes/origin/", "origin/", "*/"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if strings.ContainsAny(name, "*:$ {}") {
		return ""
	}
	return name
}

// plainURL returns the address of a repository without what does not tell it from others.
func plainURL(address string) string { return strings.TrimSuffix(strings.Trim(address, "/"), ".git") }
