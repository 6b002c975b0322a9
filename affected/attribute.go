package affected

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// An Attribution tells to which shards the difference between two desired states
// belongs.
type Attribution struct {
	Same bool     // the states do not differ
	Keys []string // the affected keys, sorted; empty when the difference is not that of single shards
	Why  string   // why the difference is not that of single shards; "" when it is
}

// Attribute compares two desired states, each a list of documents, and
// attributes their difference to shard keys.
//
// Every part of a state belongs to a set of keys. An owner element belongs to its
// own key. The rest of an element around owner elements belongs to all keys found
// in it. The rest of a document belongs to every key, and so does an element whose
// key cannot be used. For example, with the selector roles[*].accounts[*].name, an
// account belongs to its name, and the description of a role to the names of all its
// accounts.
//
// The view of a key is the tree of the parts that belong to it. A key is affected
// when its views on base and head differ. When the parts of the affected keys are
// taken away, both states must be the same, so no change is lost. Positions in lists
// are never compared, and the cost is linear in the size of the states.
func Attribute(base, head []any, selectors []settings.Selector, order settings.ListOrder) Attribution {
	base, head = prune(base, head, selectors, order)
	return attribute(base, head, selectors, order)
}

// attribute is Attribute for states of which nothing is pruned.
func attribute(base, head []any, selectors []settings.Selector, order settings.ListOrder) Attribution {
	b, h := newTree(base, selectors, order), newTree(head, selectors, order)
	if b.root.full(order) == h.root.full(order) {
		return Attribution{Same: true}
	}
	if len(selectors) == 0 {
		return Attribution{Why: "it has no shards"}
	}
	if why := b.sharedDifference(h); why != "" {
		return Attribution{Why: why}
	}
	keys := differingKeys(b.root.views(order), h.root.views(order))
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
func Keys(documents []any, selectors []settings.Selector) (keys []string, whole bool) {
	t := newTree(documents, selectors, settings.OrderIgnored)
	return t.root.keys(), len(t.unkeyed) == 0
}

// Digest returns the sha256 of desired states, as 64 hex digits behind
// "sha256:". Equal digests mean equal states.
func Digest(documents []any, order settings.ListOrder) string {
	var text []byte
	for _, d := range documents {
		text = append(appendCanonical(text, d, order), '\n')
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
}

// A tree is a desired state whose shard elements are split from the rest.
type tree struct {
	root    *element
	rest    map[string]string // the rest of the documents, by top-level member
	unkeyed []unkeyed
	order   settings.ListOrder
	doc     string // number of the document that is being split
	text    []byte // scratch
}

// An unkeyed element has a key that cannot be used, so it belongs to every key. It
// also stays in the rest of the element around it, which then differs when the
// unkeyed element moves.
type unkeyed struct {
	hash string // of the element, and of the rest of the elements around it
	why  string // for people
}

// An element is a part of a state that belongs to some keys only.
type element struct {
	place  string   // where it stands in the element around it
	rest   string   // its text or hash without its parts
	own    []string // its own keys, when it is an owner element
	parts  []*element
	shared bool // it holds an unkeyed element, so that every key sees it
}

// newTree splits the documents of a desired state.
func newTree(documents []any, selectors []settings.Selector, order settings.ListOrder) *tree {
	t := &tree{root: &element{}, rest: map[string]string{}, order: order}
	var cursors []cursor
	for _, s := range selectors {
		cursors = append(cursors, cursor{s, 0})
	}
	for i, d := range documents {
		t.doc = strconv.Itoa(i)
		if o, ok := d.(*bundle.Object); ok && !anyWildcard(cursors) {
			t.add(t.doc, "{}", nil)
			for _, m := range membersByKey(o) {
				rest, parts := t.split(m.Value, forward(cursors, m.Key), field(m.Key))
				t.add(t.doc+"."+m.Key, rest, parts)
			}
			continue
		}
		rest, parts := t.split(d, cursors, "")
		t.add(t.doc, rest, parts)
	}
	t.root.rest = hash(append(flatten(t.rest), t.unkeyedHashes()...)...)
	return t
}

// add adds the rest and the parts of a document, or of a member of it.
func (t *tree) add(name, rest string, parts []*element) {
	t.rest[name] = rest
	t.root.parts = append(t.root.parts, parts...)
}

// sharedDifference compares the parts that belong to every key. It returns "" when
// they are the same, and otherwise where they differ.
func (t *tree) sharedDifference(other *tree) string {
	if !slices.Equal(t.unkeyedHashes(), other.unkeyedHashes()) {
		return firstUnkeyed(t.unkeyed, other.unkeyed)
	}
	where := differingKeys(t.rest, other.rest)
	if len(where) == 0 {
		return ""
	}
	_, name, inside := strings.Cut(where[0], ".")
	if !inside {
		return "something that belongs to no single shard differs"
	}
	return fmt.Sprintf("something that belongs to no single shard differs, in %q", name)
}

// firstUnkeyed returns why the key of an element cannot be used: of the first unkeyed
// element that only one side has, or of the first one on base when only their order
// differs.
func firstUnkeyed(base, head []unkeyed) string {
	onHead := map[string]int{}
	for _, u := range head {
		onHead[u.hash]++
	}
	for _, u := range base {
		if onHead[u.hash]--; onHead[u.hash] < 0 {
			return u.why
		}
	}
	for _, u := range head {
		if onHead[u.hash] > 0 {
			return u.why
		}
	}
	return base[0].why
}

// unkeyedHashes returns the hashes of the unkeyed elements.
func (t *tree) unkeyedHashes() []string {
	var out []string
	for _, u := range t.unkeyed {
		out = append(out, u.hash)
	}
	return sorted(out, t.order)
}

// split splits a value into the elements that cursors lead to and the rest. It
// returns the text of the rest, and the elements.
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

// splitObject splits an object.
func (t *tree) splitObject(o *bundle.Object, cursors []cursor, place string) (string, []*element) {
	each := wildcards(cursors, settings.Members)
	var parts []*element
	var left []string
	for _, m := range membersByKey(o) {
		name := quote(m.Key)
		if len(each) > 0 {
			if e := t.newElement(m.Value, slices.Concat(each, forward(cursors, m.Key)), place+".*", name); e != nil {
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

// splitList splits a list.
func (t *tree) splitList(list []any, cursors []cursor, place string) (string, []*element) {
	each := wildcards(cursors, settings.Items)
	if len(each) == 0 {
		return t.canonical(list), nil
	}
	var parts []*element
	var left []string
	shared := 0 // items so far that every key sees
	for _, v := range list {
		index := ""
		if t.order == settings.OrderSignificant {
			index = strconv.Itoa(shared)
		}
		e := t.newElement(v, each, place+"[*]", index)
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

// newElement makes an element of a value that wildcards lead to. It returns nil when
// the value has no key that can be used; the value then stays in the rest. name tells
// where the value stands among its neighbours, as far as that counts.
func (t *tree) newElement(v any, cursors []cursor, place, name string) *element {
	e := &element{place: place}
	var inner []cursor
	for _, c := range cursors {
		if c.step <= c.selector.OwnerIndex() {
			inner = append(inner, c)
			continue
		}
		key, err := findKey(v, c.selector.KeySteps())
		if err != nil {
			t.unkeyed = append(t.unkeyed, unkeyed{
				hash(t.doc, place, name, t.canonical(v)),
				fmt.Sprintf("an element at %s differs that %s", place, err),
			})
			return nil
		}
		e.own = append(e.own, key)
	}
	first := len(t.unkeyed)
	e.rest, e.parts = t.split(v, inner, place)
	e.rest = hash(t.doc, place, name, e.rest)
	for i := range t.unkeyed[first:] {
		u := &t.unkeyed[first+i]
		u.hash = hash(e.rest, u.hash)
	}
	if len(e.own) == 0 && len(e.parts) == 0 {
		return nil
	}
	e.shared = len(t.unkeyed) > first
	return e
}

// canonical returns a value as text that is the same for equal values.
func (t *tree) canonical(v any) string {
	t.text = appendCanonical(t.text[:0], v, t.order)
	return string(t.text)
}
