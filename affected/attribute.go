package affected

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
)

// An Attribution says to which shards the difference between two desired
// states belongs.
type Attribution struct {
	Same bool     // the states do not differ
	Keys []string // the affected keys, sorted; empty when it is not known that they suffice
	Why  string   // why the keys do not suffice; "" when they do
}

// Attribute compares two desired states, each a list of documents, and
// attributes what differs to shard keys.
//
// Every part of a state belongs to a set of keys: an owner element to its own
// key, what is left of an element around it to all keys found below, what is
// left of a document to every key. Seen from one key, a state is a tree of the
// parts that belong to it; a key is affected when those trees differ. What is
// left when the affected keys are taken away must be the same on both sides,
// so nothing that changed can fall through. An element whose key cannot be
// used belongs to every key. No position is ever compared with a position of
// the other state, and the cost is linear in the size of the states.
func Attribute(base, head []any, selectors []integration.Selector, order integration.ListOrder) Attribution {
	b, h := newTree(base, selectors, order), newTree(head, selectors, order)
	if b.root.full(order) == h.root.full(order) {
		return Attribution{Same: true}
	}
	if len(selectors) == 0 {
		return Attribution{Why: "it has no shards"}
	}
	if why := b.outside(h); why != "" {
		return Attribution{Why: why}
	}
	keys := differing(b.root.views(order), h.root.views(order))
	affected := map[string]bool{}
	for _, k := range keys {
		affected[k] = true
	}
	if len(keys) == 0 || b.root.without(affected, order) != h.root.without(affected, order) {
		return Attribution{Why: "the difference cannot be told apart by shard: elements moved or changed their order"}
	}
	return Attribution{Keys: keys}
}

// Keys returns all shard keys in the documents, sorted, and whether they cover
// every element that a selector names.
func Keys(documents []any, selectors []integration.Selector) (keys []string, whole bool) {
	t := newTree(documents, selectors, integration.OrderIgnored)
	return t.root.keys(), len(t.loose) == 0
}

// Digest returns the sha256 of desired states, as 64 hex digits behind
// "sha256:". Equal digests mean equal states.
func Digest(documents []any, order integration.ListOrder) string {
	var text strings.Builder
	for _, d := range documents {
		text.WriteString(canonical(d, order))
		text.WriteByte('\n')
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text.String())))
}

// A tree is a desired state with its shard elements taken out.
type tree struct {
	root  *element
	rest  map[string]string // what is left of the documents, by top-level member
	loose []string          // elements whose key cannot be used
	bad   string            // the first such element, for people
	order integration.ListOrder
	doc   string // number of the document that is being split
}

// An element is a part of a state that belongs to some keys only.
type element struct {
	place string   // where it stands in the element around it
	rest  string   // what is left of it without its parts
	own   []string // its own keys, when it is an owner element
	parts []*element
}

// A cursor is a selector on its way through a document.
type cursor struct {
	selector integration.Selector
	step     int
}

func newTree(documents []any, selectors []integration.Selector, order integration.ListOrder) *tree {
	t := &tree{root: &element{}, rest: map[string]string{}, order: order}
	var cursors []cursor
	for _, s := range selectors {
		cursors = append(cursors, cursor{s, 0})
	}
	for i, d := range documents {
		t.doc = strconv.Itoa(i)
		if o, ok := d.(*bundle.Object); ok && !wildcard(cursors) {
			for _, m := range o.Members() {
				rest, parts := t.split(m.Value, forward(cursors, m.Key), m.Key)
				t.add(t.doc+"."+m.Key, rest, parts)
			}
			continue
		}
		rest, parts := t.split(d, cursors, "")
		t.add(t.doc, rest, parts)
	}
	t.root.rest = hash(append(flat(t.rest), sorted(t.loose, t.order)...)...)
	return t
}

func (t *tree) add(name, rest string, parts []*element) {
	t.rest[name] = rest
	t.root.parts = append(t.root.parts, parts...)
}

// outside compares what belongs to every key and says where it differs.
func (t *tree) outside(other *tree) string {
	var where []string
	for name := range t.rest {
		if t.rest[name] != other.rest[name] {
			where = append(where, name)
		}
	}
	for name := range other.rest {
		if _, ok := t.rest[name]; !ok {
			where = append(where, name)
		}
	}
	if len(where) > 0 {
		slices.Sort(where)
		_, name, _ := strings.Cut(where[0], ".")
		return fmt.Sprintf("something that belongs to no single shard differs, in %q", name)
	}
	if !slices.Equal(sorted(t.loose, t.order), sorted(other.loose, t.order)) {
		bad := t.bad
		if bad == "" {
			bad = other.bad
		}
		return bad
	}
	return ""
}

// split takes the elements that cursors lead to out of a value. It returns the
// text of what is left, and the elements.
func (t *tree) split(v any, cursors []cursor, place string) (string, []*element) {
	if len(cursors) == 0 {
		return canonical(v, t.order), nil
	}
	switch v := v.(type) {
	case *bundle.Object:
		return t.splitObject(v, cursors, place)
	case []any:
		return t.splitList(v, cursors, place)
	}
	return canonical(v, t.order), nil
}

func (t *tree) splitObject(o *bundle.Object, cursors []cursor, place string) (string, []*element) {
	each := chosen(cursors, integration.Members)
	var parts []*element
	var left []string
	for _, m := range o.Members() {
		name, at := quote(m.Key), place+"."+m.Key
		if len(each) > 0 {
			switch e := t.take(m.Value, slices.Concat(each, forward(cursors, m.Key)), place+".*", name); {
			case e == nil:
				left = append(left, name+":"+canonical(m.Value, t.order))
			case e.place != "":
				parts = append(parts, e)
			}
			continue
		}
		rest, below := t.split(m.Value, forward(cursors, m.Key), at)
		left = append(left, name+":"+rest)
		parts = append(parts, below...)
	}
	slices.Sort(left)
	return "{" + strings.Join(left, ",") + "}", parts
}

func (t *tree) splitList(list []any, cursors []cursor, place string) (string, []*element) {
	each := chosen(cursors, integration.Items)
	if len(each) == 0 {
		return canonical(list, t.order), nil
	}
	var parts []*element
	var left []string
	for _, v := range list {
		switch e := t.take(v, each, place+"[*]", ""); {
		case e == nil:
			left = append(left, canonical(v, t.order))
		case e.place != "":
			parts = append(parts, e)
		}
	}
	return "[" + strings.Join(sorted(left, t.order), ",") + "]", parts
}

// take makes an element of a value that wildcards lead to. It returns nil when
// no key is found in it, so that it stays where it is, and an element without
// a place when it belongs to every key and was put aside.
func (t *tree) take(v any, cursors []cursor, place, name string) *element {
	e := &element{place: place}
	var inner []cursor
	for _, c := range cursors {
		if c.step <= c.selector.Owner() {
			inner = append(inner, c)
			continue
		}
		key, err := lookup(v, c.selector.Key())
		if err != nil {
			t.loose = append(t.loose, hash(t.doc, place, name, canonical(v, t.order)))
			if t.bad == "" {
				t.bad = fmt.Sprintf("an element at %s differs that %s", place, err)
			}
			return &element{}
		}
		e.own = append(e.own, key)
	}
	e.rest, e.parts = t.split(v, inner, place)
	e.rest = hash(t.doc, place, name, e.rest)
	if len(e.own) == 0 && len(e.parts) == 0 {
		return nil
	}
	return e
}

// lookup follows the steps from an owner element to its key.
func lookup(v any, steps []integration.Step) (string, error) {
	for _, s := range steps {
		o, ok := v.(*bundle.Object)
		if !ok {
			return "", fmt.Errorf("has no %q", s.Name)
		}
		if v, ok = o.Get(s.Name); !ok {
			return "", fmt.Errorf("has no %q", s.Name)
		}
	}
	key, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("has a key that is no string")
	}
	return key, usable(key)
}

// usable tells why a key cannot be passed to a task as one argument.
func usable(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("has an empty key")
	case len(key) > 253:
		return fmt.Errorf("has a key longer than 253 bytes")
	case strings.HasPrefix(key, "-"):
		return fmt.Errorf("has a key that begins with a dash and would be taken for an option: %q", key)
	case strings.ContainsAny(key, "{}") || strings.ContainsFunc(key, unicode.IsControl) || !utf8.ValidString(key):
		return fmt.Errorf("has a key with braces or control characters: %q", key)
	}
	return nil
}

// forward returns the cursors that a named member leads on.
func forward(cursors []cursor, name string) []cursor {
	var out []cursor
	for _, c := range cursors {
		if s := c.selector.Steps[c.step]; s.Kind == integration.Field && s.Name == name {
			out = append(out, cursor{c.selector, c.step + 1})
		}
	}
	return out
}

// chosen returns the cursors that a wildcard of the given kind leads on.
func chosen(cursors []cursor, kind integration.StepKind) []cursor {
	var out []cursor
	for _, c := range cursors {
		if c.selector.Steps[c.step].Kind == kind {
			out = append(out, cursor{c.selector, c.step + 1})
		}
	}
	return out
}

func wildcard(cursors []cursor) bool {
	return slices.ContainsFunc(cursors, func(c cursor) bool {
		return c.selector.Steps[c.step].Kind != integration.Field
	})
}
