package server

import (
	"strconv"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// newObject returns an object of alternating keys and values.
func newObject(pairs ...any) *bundle.Object {
	o := &bundle.Object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		v := pairs[i+1]
		if list, ok := v.([]any); ok && list == nil {
			v = []any{}
		}
		o.Set(key, v)
	}
	return o
}

func jsonNumber(n int64) bundle.Number { return bundle.Number(strconv.FormatInt(n, 10)) }

// jsonText returns a value as JSON, as JavaScript writes it.
func jsonText(v any) string { return string(gql.AppendJSON(nil, v)) }
