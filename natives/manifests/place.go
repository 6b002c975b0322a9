package manifests

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/app-sre/prcheck/internal/jsonpointer"
)

// A place is the way to a value of an object.
type place []segment

// A segment is the name of a member, or an item of a list.
type segment struct {
	name  string // "" for an item
	index int    // of the item
	keys  []key  // of the item, if the list has keys
	item  any    // the item itself, if the list is a set
}

// A key is a member by which an item of a list is known.
type key struct {
	name  string
	value any
}

// member returns the place of a member of an object.
func (p place) member(name string) place { return append(p[:len(p):len(p)], segment{name: name}) }

// inList returns the place of an item of a list.
func (p place) inList(s segment) place { return append(p[:len(p):len(p)], s) }

// last returns the name of the last member on the way: of an item, that of its list.
func (p place) last() string {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].name != "" {
			return p[i].name
		}
	}
	return ""
}

// name returns the name at a depth, "" if there is none.
func (p place) name(depth int) string {
	if depth >= len(p) {
		return ""
	}
	return p[depth].name
}

// pointer returns the place as a JSON pointer.
func (p place) pointer() string {
	out := ""
	for _, s := range p {
		if s.name != "" {
			out = jsonpointer.Append(out, s.name)
		} else {
			out = jsonpointer.Append(out, strconv.Itoa(s.index))
		}
	}
	return out
}

// named returns the place as a JSON pointer in which an item of a list with keys has these in place of its position,
// such as /spec/containers/name=web/image. It is "" if that is the pointer itself.
func (p place) named() string {
	out, hasKeys := "", false
	for _, s := range p {
		switch {
		case s.name != "":
			out = jsonpointer.Append(out, s.name)
		case s.keys != nil:
			var keys []string
			for _, k := range s.keys {
				keys = append(keys, fmt.Sprintf("%s=%v", k.name, k.value))
			}
			out, hasKeys = jsonpointer.Append(out, strings.Join(keys, ",")), true
		default:
			out = jsonpointer.Append(out, strconv.Itoa(s.index))
		}
	}
	if !hasKeys {
		return ""
	}
	return out
}

// path returns the place as the server writes it.
func (p place) path() fieldpath.Path {
	out := make(fieldpath.Path, len(p))
	for i, s := range p {
		switch {
		case s.name != "":
			out[i] = fieldpath.FieldNameElement(s.name)
		case s.keys != nil:
			var fields []any
			for _, k := range s.keys {
				fields = append(fields, k.name, plain(k.value))
			}
			out[i] = fieldpath.KeyElementByFields(fields...)
		case s.item != nil:
			out[i] = fieldpath.ValueElement(value.NewValueInterface(plain(s.item)))
		default:
			out[i] = fieldpath.IndexElement(s.index)
		}
	}
	return out
}

// plain returns a scalar whose numbers are int64 or float64.
func plain(v any) any {
	switch n := v.(type) {
	case json.Number:
		if i, err := n.Int64(); err == nil {
			return i
		}
		f, _ := n.Float64() // a number of JSON
		return plain(f)
	case float64:
		if i := int64(n); float64(i) == n && i > -1<<53 && i < 1<<53 {
			return i
		}
		return n
	case int:
		return int64(n)
	case int32:
		return int64(n)
	}
	return v
}
