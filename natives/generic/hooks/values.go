package hooks

import (
	"maps"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
)

func (x Subject) clone() Subject {
	x.Applied, x.Desired, x.Live = body.Clone(x.Applied), body.Clone(x.Desired), body.Clone(x.Live)
	x.Named = append([]string(nil), x.Named...)
	return x
}

// text returns the text at a JSON pointer, "" if there is none.
func text(v any, pointer string) string {
	found, _ := body.Get(v, pointer)
	t, _ := found.(string)
	return t
}

// with returns a value with another one set at a JSON pointer. What is no object on the way
// becomes one. The value itself stays as it is.
func with(v any, pointer string, set any) any {
	parts := jsonpointer.Split(pointer)
	if len(parts) == 0 {
		return set
	}
	object, _ := v.(map[string]any)
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	rest := ""
	for _, name := range parts[1:] {
		rest = jsonpointer.Append(rest, name)
	}
	out[parts[0]] = with(out[parts[0]], rest, set)
	return out
}
