package affected

import (
	"hash/maphash"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// prune returns two desired states without the items that the same list has on both sides, as
// far as they are easily found. Such an item contributes the same to both sides, so what is
// said about the difference stays. Only lists that a selector divides are looked at, and not
// the lists in their items.
func prune(base, head []any, selectors []settings.Selector, order settings.ListOrder) ([]any, []any) {
	if len(base) != len(head) {
		return base, head
	}
	p := pruner{order, maphash.MakeSeed()}
	var cursors []cursor
	for _, s := range selectors {
		cursors = append(cursors, cursor{s, 0})
	}
	b, h := make([]any, len(base)), make([]any, len(head))
	for i := range base {
		b[i], h[i] = p.value(base[i], head[i], cursors)
	}
	return b, h
}

// A pruner removes what two states have in common.
type pruner struct {
	order settings.ListOrder
	seed  maphash.Seed
}

// value prunes a value that both sides have at one place.
func (p pruner) value(base, head any, cursors []cursor) (any, any) {
	switch b := base.(type) {
	case *bundle.Object:
		if h, ok := head.(*bundle.Object); ok && len(wildcards(cursors, settings.Members)) == 0 {
			return p.object(b, h, cursors)
		}
	case []any:
		if each := wildcards(cursors, settings.Items); len(each) > 0 {
			if h, ok := head.([]any); ok {
				return p.list(b, h, each)
			}
		}
	}
	return base, head
}

// object prunes the members that cursors lead to. It copies the objects.
func (p pruner) object(base, head *bundle.Object, cursors []cursor) (any, any) {
	b, h := bundle.NewObject(base.Members()...), bundle.NewObject(head.Members()...)
	for _, m := range base.Members() {
		next := forward(cursors, m.Key)
		other, ok := head.Get(m.Key)
		if !ok || len(next) == 0 {
			continue
		}
		one, two := p.value(m.Value, other, next)
		b.Set(m.Key, one)
		h.Set(m.Key, two)
	}
	return b, h
}

// list prunes two lists, whose items the cursors lead to.
func (p pruner) list(base, head []any, each []cursor) (any, any) {
	if p.order == settings.OrderSignificant {
		return p.ends(base, head, each)
	}
	var b, h []any
	for i := range max(len(base), len(head)) {
		switch {
		case i >= len(base):
			h = append(h, head[i])
		case i >= len(head):
			b = append(b, base[i])
		case !bundle.Equal(base[i], head[i]):
			b, h = append(b, base[i]), append(h, head[i])
		}
	}
	b, h = p.moved(b, h)
	return b, h
}

// ends prunes the first items and the last items of two lists whose order counts. Items between
// them may have moved against others of the same key. The last items stay if an item before them
// belongs to every key, since such items are counted.
func (p pruner) ends(base, head []any, each []cursor) (any, any) {
	for len(base) > 0 && len(head) > 0 && bundle.Equal(base[0], head[0]) {
		base, head = base[1:], head[1:]
	}
	b, h := base, head
	for len(b) > 0 && len(h) > 0 && bundle.Equal(b[len(b)-1], h[len(h)-1]) {
		b, h = b[:len(b)-1], h[:len(h)-1]
	}
	if max(len(b), len(h)) > len(base)/2 || p.isCounted(b, each) || p.isCounted(h, each) {
		return base, head
	}
	return b, h
}

// isCounted tells whether an item of a list belongs to every key.
func (p pruner) isCounted(list []any, each []cursor) bool {
	t := &tree{order: p.order}
	return slices.ContainsFunc(list, func(v any) bool {
		e := t.newElement(v, each, "", "")
		return e == nil || e.shared
	})
}

// maxAlike is how many items that look alike are compared with each item.
const maxAlike = 4

// moved prunes the items of two lists that stand at different places.
func (p pruner) moved(base, head []any) (b, h []any) {
	at := make(map[uint64][]int, len(base))
	for i, v := range base {
		look := p.look(v)
		at[look] = append(at[look], i)
	}
	gone := make([]bool, len(base))
	for _, v := range head {
		found := false
		alike := at[p.look(v)]
		for _, i := range alike[:min(len(alike), maxAlike)] {
			if found = !gone[i] && bundle.Equal(base[i], v); found {
				gone[i] = true
				break
			}
		}
		if !found {
			h = append(h, v)
		}
	}
	for i, v := range base {
		if !gone[i] {
			b = append(b, v)
		}
	}
	return b, h
}

// look returns a hash of the texts in an object, and of its numbers. Equal values have the
// same.
func (p pruner) look(v any) uint64 {
	switch v := v.(type) {
	case string:
		return maphash.String(p.seed, v)
	case bundle.Number:
		return maphash.String(p.seed, string(v))
	case *bundle.Object:
		var sum uint64
		for _, m := range v.Members() {
			switch m.Value.(type) {
			case string, bundle.Number:
				sum += maphash.String(p.seed, m.Key) ^ p.look(m.Value) // in any order
			}
		}
		return sum
	}
	return 0
}
