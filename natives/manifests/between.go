package manifests

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Between returns how two manifests of one object differ, without any cluster: what applying the second one changes of
// an object that is as the first one says. Values of secrets are not shown, and none at the secret places, which are
// JSON pointers.
func Between(base, head Object, secret []string) []reconcile.Change {
	b := between{secret: secret}
	b.compare(nil, map[string]any(base), map[string]any(head))
	slices.SortStableFunc(b.out, func(x, y reconcile.Change) int { return cmp.Compare(x.Path, y.Path) })
	return b.out
}

// A between collects the changes between two manifests.
type between struct {
	secret []string
	out    []reconcile.Change
}

func (b *between) compare(p place, old, now any) {
	if reflect.DeepEqual(old, now) || isAddress(p) || len(p) == 3 && p[2].name == DigestAnnotation {
		return
	}
	was, isObject := old.(map[string]any)
	is, isToo := now.(map[string]any)
	if isObject && isToo && len(p) < maxDepth {
		names := slices.Collect(maps.Keys(was))
		names = slices.AppendSeq(names, maps.Keys(is))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			b.compare(p.member(name), was[name], is[name])
		}
		return
	}
	before, isList := old.([]any)
	after, isListToo := now.([]any)
	if isList && isListToo && len(p) < maxDepth && b.compareItems(p, before, after) {
		return
	}
	b.add(p, old, now)
}

// compareItems compares the items of lists with keys. It returns false if the lists have none: then they are
// compared as one value.
func (b *between) compareItems(p place, was, is []any) bool {
	members := keysOf(p.last(), append(slices.Clone(is), was...))
	hasKeys := func(item any) bool { return keysIn(members, item) != nil }
	if members == nil || !all(was, hasKeys) || !all(is, hasKeys) {
		return false
	}
	for i, item := range is {
		keys := keysIn(members, item)
		old, _ := findItem(was, keys)
		b.compare(p.inList(segment{index: i, keys: keys}), old, item)
	}
	for i, item := range was {
		keys := keysIn(members, item)
		if _, at := findItem(is, keys); at < 0 {
			b.add(p.inList(segment{index: i, keys: keys}), item, nil)
		}
	}
	return true
}

func all(items []any, is func(any) bool) bool {
	return !slices.ContainsFunc(items, func(item any) bool { return !is(item) })
}

func (b *between) add(p place, old, now any) {
	c := reconcile.Change{Path: p.pointer()}
	if touchesAny(c.Path, b.secret) {
		c.Path, c.Secret = shortest(c.Path, b.secret), true
		b.out = append(b.out, c)
		return
	}
	c.Old, c.New, c.From, c.To = show(p, old), show(p, now), asJSON(p, old), asJSON(p, now)
	c.Path, c.Named = phrase.Cut(c.Path, maxShown), phrase.Cut(p.named(), maxShown)
	b.out = append(b.out, c)
}

// asJSON returns a value as JSON without secrets, nil if there is none.
func asJSON(p place, v any) []byte {
	if v == nil {
		return nil
	}
	return []byte(canonical(mask(p, v)))
}

// touchesAny reports whether a place is at, below or above one of some places.
func touchesAny(path string, places []string) bool {
	return slices.ContainsFunc(places, func(m string) bool {
		return path == m || strings.HasPrefix(path, m+"/") || strings.HasPrefix(m, path+"/")
	})
}

// shortest returns the place of those that a path is below, since the names on the way may be secrets, or the path.
func shortest(path string, places []string) string {
	for _, m := range places {
		if strings.HasPrefix(path, m+"/") {
			return m
		}
	}
	return path
}

// Emptied returns a manifest with the objects of another one and none of their values.
func Emptied(o Object) Object { return emptied(map[string]any(o), 0) }

func emptied(v map[string]any, depth int) map[string]any {
	out := map[string]any{}
	for name, member := range v {
		if inner, ok := member.(map[string]any); ok && depth < maxDepth {
			out[name] = emptied(inner, depth+1)
		}
	}
	return out
}
