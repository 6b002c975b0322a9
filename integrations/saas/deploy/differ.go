package deploy

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// maxDeep is how deep objects are compared part by part.
const maxDeep = 60

// differing returns the pointers of the values in which two values differ.
func differing(at string, was, now any) []string {
	if strings.Count(at, "/") < maxDeep {
		if a, ok := was.(map[string]any); ok {
			if b, ok := now.(map[string]any); ok {
				return differingMembers(at, a, b)
			}
		}
		a, isList := was.([]any)
		if b, ok := now.([]any); ok && isList && len(a) == len(b) {
			var out []string
			for i := range a {
				out = append(out, differing(at+"/"+strconv.Itoa(i), a[i], b[i])...)
			}
			return out
		}
	}
	if reflect.DeepEqual(was, now) {
		return nil
	}
	return []string{at}
}

func differingMembers(at string, was, now map[string]any) []string {
	all := maps.Clone(was)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, now)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, differing(jsonpointer.Append(at, name), was[name], now[name])...)
	}
	return out
}

// maxValue is how many bytes of a value people are shown.
const maxValue = 80

// valueText returns the value at a place for people.
func valueText(v any, pointer string) string {
	for _, name := range jsonpointer.Split(pointer) {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return "none"
			}
			v = in[i]
		default:
			return "none"
		}
	}
	if v == nil {
		return "none"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	if len(raw) > maxValue {
		return strings.ToValidUTF8(string(raw[:maxValue]), "") + "…"
	}
	return string(raw)
}
