package body

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/app-sre/prcheck/natives/openapi"
)

// maxSize is the length in bytes of the longest text that Parse reads.
const maxSize = 16 << 20

// Parse reads a JSON text. A member that stands twice in an object, text after the end, and
// invalid UTF-8 are mistakes; the error names the line. A text has at most 16 MiB, a million
// values and 256 levels.
func Parse(raw []byte) (any, error) {
	if len(raw) > maxSize {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(raw), maxSize)
	}
	return openapi.Decode(raw)
}

// Of returns a value that other code decoded in the form that this package works with:
// numbers of Go become [json.Number]. A value of another kind is an error.
func Of(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, json.Number:
		return v, nil
	case int:
		return json.Number(strconv.Itoa(v)), nil
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil
	case uint64:
		return json.Number(strconv.FormatUint(v, 10)), nil
	case float64:
		raw, err := json.Marshal(v)
		return json.Number(raw), err
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = Of(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			var err error
			if out[name], err = Of(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("a value of the kind %T is not JSON", v)
}

// Clone returns a copy that shares nothing with the value.
func Clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = Clone(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Clone(item)
		}
		return out
	}
	return v
}

// IsEmpty reports whether a live value means the same as one that is missing: null, an empty
// list, or an object with nothing but such members.
func IsEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, item := range v {
			if !IsEmpty(item) {
				return false
			}
		}
		return true
	}
	return false
}

// WithoutEmpty returns a value without the members of objects that mean the same as missing
// ones. Values that are equal are spelled the same without them.
func WithoutEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			if !IsEmpty(item) {
				out[name] = WithoutEmpty(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = WithoutEmpty(item)
		}
		return out
	}
	return v
}

// WithoutNulls returns a value without the members of objects that are null. In the data, null
// says that nothing is to be there.
func WithoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			if item != nil {
				out[name] = WithoutNulls(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = WithoutNulls(item)
		}
		return out
	}
	return v
}
