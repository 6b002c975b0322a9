package validator

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// A step leads from a value into one below it: by key, or by index when key is
// "" and the value is a list.
type step struct {
	key   string
	index int
	item  bool
}

func (s step) String() string {
	if s.item {
		return strconv.Itoa(s.index)
	}
	return s.key
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer writes steps as a JSON pointer (RFC 6901).
func pointer(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(s.String()))
	}
	return b.String()
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")

// split returns the unescaped parts of a JSON pointer.
func split(pointer string) []string {
	if pointer == "" {
		return nil
	}
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, p := range parts {
		parts[i] = pointerUnescapes.Replace(p)
	}
	return parts
}

// comparePointers orders pointers part by part, indexes by number.
func comparePointers(a, b string) int {
	x, y := split(a), split(b)
	for i := range min(len(x), len(y)) {
		m, errM := strconv.Atoi(x[i])
		n, errN := strconv.Atoi(y[i])
		c := strings.Compare(x[i], y[i])
		if errM == nil && errN == nil {
			c = cmp.Or(cmp.Compare(m, n), c)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// lookup follows a JSON pointer.
func lookup(v any, pointer string) (any, bool) {
	for _, part := range split(pointer) {
		switch at := v.(type) {
		case *bundle.Object:
			var ok bool
			if v, ok = at.Get(part); !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}
