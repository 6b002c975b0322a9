package affected

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// A difference is how the answers to one query differ between base and head.
type difference struct {
	touched    bool   // something that the query reads changed, or may have
	compared   bool   // base and head hold the answers, as far as these can differ
	base, head any    // documents
	doubt      string // why the answers prove nothing; "" when they do
	evidence   plan.QueryDifference
}

// A differenceKey is a query, and whether it was answered as a whole.
type differenceKey struct {
	query *gql.Query
	whole bool
}

// compareAnswers compares the answers to a query. Integrations with the same query
// share the result.
func (c *Comparison) compareAnswers(ctx context.Context, q CompiledQuery, whole bool) *difference {
	whole = whole || slices.ContainsFunc(q.base.Roots(), isOpaque) || slices.ContainsFunc(q.head.Roots(), isOpaque)
	key := differenceKey{q.base, whole}
	if d, ok := c.differences[key]; ok {
		return d
	}
	d := &difference{evidence: plan.QueryDifference{SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(q.Text))),
		Complete: whole}}
	c.differences[key] = d
	if whole {
		d.touched, d.compared = true, true
		d.base, d.head, d.doubt = c.answerWhole(ctx, q)
		return d
	}
	c.compareReached(ctx, q, d)
	return d
}

// isOpaque tells whether a root can only be answered as a whole.
func isOpaque(r *gql.Root) bool { return r.Kind == gql.RootOpaque }

// compareReached compares the root elements that can see the change. All others
// are the same on both sides.
func (c *Comparison) compareReached(ctx context.Context, q CompiledQuery, d *difference) {
	r := c.reach(q.base)
	d.evidence.Reached, d.evidence.Fields = len(r.direct), r.fields
	if c.isLive() {
		c.compareLive(ctx, q, r, d)
	} else {
		c.compareElements(ctx, q, r, d)
	}
	d.touched = d.compared || c.readsChange(q.base, r)
}

// readsChange tells whether the query reads a field that changed, or can read a
// file that was added or removed.
func (c *Comparison) readsChange(q *gql.Query, r reach) bool {
	if len(r.fields) > 0 {
		return true
	}
	schemas := q.Schemas()
	for _, f := range c.diff.Datafiles {
		if r.direct[f.Path] && slices.ContainsFunc(f.Schemas(), func(s bundle.SchemaPath) bool {
			return slices.Contains(schemas, s)
		}) {
			return true
		}
	}
	for _, f := range c.diff.Resources {
		if r.direct[f.Path] {
			return true
		}
	}
	return false
}

// compareResponses adds the differences of two answers without errors. It returns
// false when a root field of one of them is not a list.
func (d *difference) compareResponses(q CompiledQuery, b, h *gql.Response) bool {
	base, _ := b.Data.(*bundle.Object)
	head, _ := h.Data.(*bundle.Object)
	for _, root := range q.base.Roots() {
		if root.Kind == gql.RootConstant {
			continue
		}
		old, was := rootItems(base, root.Key)
		now, is := rootItems(head, root.Key)
		if !was || !is {
			return false
		}
		d.add(root.Key, old, now)
	}
	return true
}

// add adds the differences of two lists of root elements: the elements of each
// list that the other has not, or not as often. The order of lists does not count
// here; where it counts, queries are answered as a whole.
func (d *difference) add(key string, base, head []any) {
	before, after := digests(base), digests(head)
	old, now := onlyIn(base, before, after), onlyIn(head, after, before)
	if len(old)+len(now) == 0 {
		return
	}
	d.evidence.Roots += max(len(old), len(now))
	if !d.compared {
		d.compared, d.base, d.head = true, &bundle.Object{}, &bundle.Object{}
	}
	d.base.(*bundle.Object).Set(key, old)
	d.head.(*bundle.Object).Set(key, now)
}

type digest = [sha256.Size]byte

// digests returns the digest of each item; the order of lists does not count.
func digests(list []any) []digest {
	out := make([]digest, len(list))
	var buffer []byte
	for i, v := range list {
		buffer = appendCanonical(buffer[:0], v, settings.OrderIgnored)
		out[i] = sha256.Sum256(buffer)
	}
	return out
}

// onlyIn returns the items of a list that the other list does not have as often.
// own and other are the digests of the two lists.
func onlyIn(list []any, own, other []digest) []any {
	left := make(map[digest]int, len(other))
	for _, d := range other {
		left[d]++
	}
	out := []any{}
	for i, d := range own {
		if left[d] > 0 {
			left[d]--
			continue
		}
		out = append(out, list[i])
	}
	return out
}
