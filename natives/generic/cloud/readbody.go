package cloud

import (
	"encoding/json"
	"fmt"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
)

// readBody reads the body of an entry. GraphQL hands it over as a text.
func (r *Resource) readBody(e resourceRow) {
	r.Where = map[string]string{}
	isWhole := r.Mistake.IsZero() // or a part of the body may be missing in the answer
	var text string
	isText := e.BodyText != nil
	hasBody := len(e.Body) > 0 && string(e.Body) != "null"
	switch {
	case isText && hasBody:
		r.fail(codeType, "/bodyText", "the entry has body and bodyText: one of them is enough")
		return
	case isText:
		text = *e.BodyText
	case !hasBody:
		if r.Body = map[string]any{}; isWhole {
			r.bodyAt = "/body"
		}
		return
	case json.Unmarshal(e.Body, &text) != nil:
		text = string(e.Body)
	}
	at := "/body"
	if isText {
		at = "/bodyText"
	}
	v, err := body.Parse([]byte(text))
	if err != nil {
		r.fail(codeType, at, err.Error())
		r.Body = map[string]any{}
		return
	}
	if _, isObject := v.(map[string]any); !isObject {
		r.fail(codeType, at, "the body must be an object")
		v = map[string]any{}
	}
	if r.Body = v; isWhole {
		r.bodyAt = at
	}
	if pointer, number := inexact(v, at); number != "" && !isText {
		r.fail(codeType, pointer,
			fmt.Sprintf("GraphQL hands over numbers like %.40s rounded: write the whole body as JSON text in bodyText", number))
	}
}

// inexact returns the place of a number that a GraphQL server of JavaScript may have rounded.
func inexact(v any, at string) (pointer, number string) {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err != nil || f > 1<<53-1 || f < -(1<<53-1) {
			return at, v.String()
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if p, n := inexact(v[name], jsonpointer.Append(at, name)); n != "" {
				return p, n
			}
		}
	case []any:
		for i, item := range v {
			if p, n := inexact(item, fmt.Sprintf("%s/%d", at, i)); n != "" {
				return p, n
			}
		}
	}
	return "", ""
}
