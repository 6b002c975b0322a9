package armtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// decode reads one JSON value, with numbers as they are written.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the value")
	}
	return v, nil
}

// encode returns the JSON text of a value.
func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("armtest: %v", err)) // a test gave what is no JSON
	}
	return raw
}

// clone returns a copy of a value that shares nothing with it.
func clone[T any](v T) T {
	out, _ := copyOf(v).(T)
	return out
}

func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = copyOf(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = copyOf(x)
		}
		return out
	case int:
		return json.Number(fmt.Sprint(v))
	}
	return v
}

// same reports whether two values have the same JSON text.
func same(a, b any) bool { return bytes.Equal(encode(a), encode(b)) }

// get returns the value at a path without "*".
func get(v any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = object[name]; !ok {
			return nil, false
		}
	}
	return v, true
}

// set sets the value at a path without "*", and makes the objects on the way.
func set(object map[string]any, path string, value any) {
	for {
		name, rest, isDeeper := strings.Cut(path, ".")
		if !isDeeper {
			object[name] = value
			return
		}
		below, ok := object[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			object[name] = below
		}
		object, path = below, rest
	}
}

// unset removes what stands at a path.
func unset(v any, path string) {
	visit(v, path, func(object map[string]any, name string) { delete(object, name) })
}

// visit calls a function for each member at a path that is there.
func visit(v any, path string, do func(object map[string]any, name string)) {
	name, rest, isDeeper := strings.Cut(path, ".")
	switch v := v.(type) {
	case []any:
		if name != "*" || !isDeeper {
			return
		}
		for _, x := range v {
			visit(x, rest, do)
		}
	case map[string]any:
		names := []string{name}
		if name == "*" {
			names = names[:0]
			for k := range v {
				names = append(names, k)
			}
		}
		for _, n := range names {
			x, there := v[n]
			switch {
			case !there:
			case isDeeper:
				visit(x, rest, do)
			default:
				do(v, n)
			}
		}
	}
}

// mergePatch applies an RFC 7386 patch, and changes the target.
func mergePatch(target map[string]any, patch map[string]any) {
	for k, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(target, k)
		case map[string]any:
			below, ok := target[k].(map[string]any)
			if !ok {
				below = map[string]any{}
			}
			mergePatch(below, v)
			target[k] = below
		default:
			target[k] = copyOf(v)
		}
	}
}

// keep fills in the members that a body leaves out from what was there before. Null, and an empty
// list or object, are values: they clear what was there.
func keep(body, before map[string]any) {
	for k, old := range before {
		now, there := body[k]
		if !there {
			body[k] = copyOf(old)
			continue
		}
		below, isObject := now.(map[string]any)
		oldBelow, wasObject := old.(map[string]any)
		if isObject && wasObject && len(below) > 0 {
			keep(below, oldBelow)
		}
	}
}

// dropNulls removes members that are null.
func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if x == nil {
				delete(v, k)
				continue
			}
			dropNulls(x)
		}
	case []any:
		for _, x := range v {
			dropNulls(x)
		}
	}
}
