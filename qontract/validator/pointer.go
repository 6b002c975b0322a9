package validator

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/qontract/bundle"
)

// A step leads from a value to a value one level below it: to the value of a key, or to an
// item of a list.
type step struct {
	key   string
	index int
	item  bool // the step leads to the item at index; key is ""
}

func (s step) String() string {
	if s.item {
		return strconv.Itoa(s.index)
	}
	return s.key
}

// pointer writes steps as a JSON pointer (RFC 6901).
func pointer(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(jsonpointer.Escape(s.String()))
	}
	return b.String()
}

// comparePointers orders pointers part by part. Indexes are compared as numbers.
func comparePointers(a, b string) int {
	x, y := jsonpointer.Split(a), jsonpointer.Split(b)
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

// lookup returns the value to which a JSON pointer leads.
func lookup(v any, pointer string) (any, bool) {
	for _, part := range jsonpointer.Split(pointer) {
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
