package affected

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	var text []byte
	for _, d := range documents {
		text = append(appendCanonical(text, d, order), '\n')
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
}

// A tree is a desired state with its shard elements taken out.
type tree struct {
	root  *element
	rest  map[string]string // what is left of the documents, by top-level member
	loose []loose
	order integration.ListOrder
	doc   string // number of the document that is being split
	text  []byte // scratch
}

// A loose element has a key that cannot be used, so it belongs to every key. It
// also stays where it is, so that whatever is around it shows when it moves.
type loose struct {
	hash string // of it and of what is left of the elements around it
	why  string // for people
}

// An element is a part of a state that belongs to some keys only.
type element struct {
	place  string   // where it stands in the element around it
	rest   string   // what is left of it without its parts
	own    []string // its own keys, when it is an owner element
	parts  []*element
	shared bool // it holds a loose element, so that every key sees it
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
			t.add(t.doc, "{}", nil)
			for _, m := range byKey(o) {
				rest, parts := t.split(m.Value, forward(cursors, m.Key), field(m.Key))
				t.add(t.doc+"."+m.Key, rest, parts)
			}
			continue
		}
		rest, parts := t.split(d, cursors, "")
		t.add(t.doc, rest, parts)
	}
	t.root.rest = hash(append(flat(t.rest), t.looseHashes()...)...)
	return t
}

func (t *tree) add(name, rest string, parts []*element) {
	t.rest[name] = rest
	t.root.parts = append(t.root.parts, parts...)
}

// outside compares what belongs to every key and says where it differs.
func (t *tree) outside(other *tree) string {
	if !slices.Equal(t.looseHashes(), other.looseHashes()) {
		return firstLoose(t.loose, other.loose)
	}
	where := differing(t.rest, other.rest)
	if len(where) == 0 {
		return ""
	}
	_, name, inside := strings.Cut(where[0], ".")
	if !inside {
		return "something that belongs to no single shard differs"
	}
	return fmt.Sprintf("something that belongs to no single shard differs, in %q", name)
}

// firstLoose tells why of the first loose element that only one side has, or,
// when nothing but their order differs, of the first.
func firstLoose(base, head []loose) string {
	more := map[string]int{}
	for _, l := range head {
		more[l.hash]++
	}
	for _, l := range base {
		if more[l.hash]--; more[l.hash] < 0 {
			return l.why
		}
	}
	for _, l := range head {
		if more[l.hash] > 0 {
			return l.why
		}
	}
	return base[0].why
}

func (t *tree) looseHashes() []string {
	var out []string
	for _, l := range t.loose {
		out = append(out, l.hash)
	}
	return sorted(out, t.order)
}

// split takes the elements that cursors lead to out of a value. It returns the
// text of what is left, and the elements.
func (t *tree) split(v any, cursors []cursor, place string) (string, []*element) {
	if len(cursors) == 0 {
		return t.canonical(v), nil
	}
	switch v := v.(type) {
	case *bundle.Object:
		return t.splitObject(v, cursors, place)
	case []any:
		return t.splitList(v, cursors, place)
	}
	return t.canonical(v), nil
}

func (t *tree) splitObject(o *bundle.Object, cursors []cursor, place string) (string, []*element) {
	each := chosen(cursors, integration.Members)
	var parts []*element
	var left []string
	for _, m := range byKey(o) {
		name := quote(m.Key)
		if len(each) > 0 {
			if e := t.take(m.Value, slices.Concat(each, forward(cursors, m.Key)), place+".*", name); e != nil {
				parts = append(parts, e)
			} else {
				left = append(left, name+":"+t.canonical(m.Value))
			}
			continue
		}
		rest, below := t.split(m.Value, forward(cursors, m.Key), place+"."+field(m.Key))
		left = append(left, name+":"+rest)
		parts = append(parts, below...)
	}
	return "{" + strings.Join(left, ",") + "}", parts
}

func (t *tree) splitList(list []any, cursors []cursor, place string) (string, []*element) {
	each := chosen(cursors, integration.Items)
	if len(each) == 0 {
		return t.canonical(list), nil
	}
	var parts []*element
	var left []string
	shared := 0 // items so far that every key sees
	for _, v := range list {
		among := ""
		if t.order == integration.OrderSignificant {
			among = strconv.Itoa(shared)
		}
		e := t.take(v, each, place+"[*]", among)
		if e != nil {
			parts = append(parts, e)
		} else {
			left = append(left, t.canonical(v))
		}
		if e == nil || e.shared {
			shared++
		}
	}
	return "[" + strings.Join(sorted(left, t.order), ",") + "]", parts
}

// take makes an element of a value that wildcards lead to. It returns nil when
// no key is found in it, or none that can be used, so that it stays where it
// is. name tells where it stands among its neighbours, as far as that counts.
func (t *tree) take(v any, cursors []cursor, place, name string) *element {
	e := &element{place: place}
	var inner []cursor
	for _, c := range cursors {
		if c.step <= c.selector.OwnerIndex() {
			inner = append(inner, c)
			continue
		}
		key, err := lookup(v, c.selector.KeySteps())
		if err != nil {
			t.loose = append(t.loose, loose{
				hash(t.doc, place, name, t.canonical(v)),
				fmt.Sprintf("an element at %s differs that %s", place, err),
			})
			return nil
		}
		e.own = append(e.own, key)
	}
	first := len(t.loose)
	e.rest, e.parts = t.split(v, inner, place)
	e.rest = hash(t.doc, place, name, e.rest)
	for i := range t.loose[first:] {
		l := &t.loose[first+i]
		l.hash = hash(e.rest, l.hash)
	}
	if len(e.own) == 0 && len(e.parts) == 0 {
		return nil
	}
	e.shared = len(t.loose) > first
	return e
}

// canonical is a value as text that is equal for equal values.
func (t *tree) canonical(v any) string {
	t.text = appendCanonical(t.text[:0], v, t.order)
	return string(t.text)
}
