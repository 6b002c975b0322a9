package gql

import (
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// inspect prints a value as the error messages of graphql-js quote it.
func inspect(v any) string { return inspectAt(v, 1) }

// Limits of inspect: how deep it enters a value, and how many items of a list it prints.
const (
	inspectDepth = 2
	inspectItems = 10
)

func inspectAt(v any, depth int) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case undefined:
		return "undefined"
	case string:
		return quoteJSON(v)
	case bool:
		return strconv.FormatBool(v)
	case bundle.Number:
		return jsNumberText(v)
	case fileList:
		return inspectAt(v.objects(), depth)
	case []any:
		return inspectList(v, depth)
	case *bundle.Object:
		return inspectObject(v, depth)
	}
	return ""
}

func inspectList(list []any, depth int) string {
	if len(list) == 0 {
		return "[]"
	}
	if depth > inspectDepth {
		return "[Array]"
	}
	parts := make([]string, 0, inspectItems+1)
	for _, item := range list[:min(len(list), inspectItems)] {
		parts = append(parts, inspectAt(item, depth+1))
	}
	switch more := len(list) - inspectItems; {
	case more == 1:
		parts = append(parts, "... 1 more item")
	case more > 1:
		parts = append(parts, "... "+strconv.Itoa(more)+" more items")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func inspectObject(o *bundle.Object, depth int) string {
	if o.Len() == 0 {
		return "{}"
	}
	if depth > inspectDepth {
		return "[Object]"
	}
	parts := make([]string, 0, o.Len())
	for _, m := range jsMembers(o) {
		parts = append(parts, m.Key+": "+inspectAt(m.Value, depth+1))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}
