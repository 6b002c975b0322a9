package affected

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/trace"
)

// A Seen is what the tasks of an integration see of its desired states on base and
// head: the one of base, and in what head differs.
type Seen struct {
	asks   string // stands for the queries
	whole  string
	shards []integration.Selector // empty: every shard sees the whole
	parts  [3]outlook             // base, what head has not, what head has more
}

// An outlook is a desired state, or a part of it, as shards see it.
type outlook struct {
	views map[string]string // by key
	rest  string            // what each key sees
}

// See evaluates the desired state of an integration on base as a whole, and on head
// where the change can reach it. It returns false when they cannot be told, or when a
// live server answers.
func (w *World) See(ctx context.Context, s Subject) (*Seen, bool) {
	if s.State != nil || len(s.Queries) == 0 || w.live != nil {
		return nil, false
	}
	asks := []string{s.Order.String()}
	for _, q := range s.Queries {
		if q.Doubt != "" {
			return nil, false
		}
		key := asked(trace.Base, q.request)
		asks = append(asks, key.query, key.operation, key.variables)
	}
	out := &Seen{asks: hash(asks...)}
	if s.Shards != nil && s.Order == integration.OrderIgnored { // an order belongs to every shard
		out.shards = s.Shards.By
	}
	key := out.asks + fmt.Sprintf("%q", out.shards)
	if known, ok := w.seen[key]; ok {
		return known, known != nil
	}
	if !w.look(ctx, s.Queries, out, s.Order) {
		out = nil
	}
	w.seen[key] = out
	return out, out != nil
}

// look evaluates the queries for what is seen of them.
func (w *World) look(ctx context.Context, queries []Query, out *Seen, order integration.ListOrder) bool {
	whole := w.typesChanged() || order == integration.OrderSignificant || !w.mentions().IsComplete()
	var parts [3][]any
	for _, q := range queries {
		base, c := w.apart(ctx, q, whole)
		if c == nil || ctx.Err() != nil {
			return false
		}
		parts[0] = append(parts[0], base)
		for i, side := range []any{c.base, c.head} {
			if !c.compared {
				side = &bundle.Object{}
			}
			parts[i+1] = append(parts[i+1], side)
		}
	}
	out.whole = hexed(out.asks, Digest(parts[0], order), Digest(parts[1], order), Digest(parts[2], order))
	for i := range parts {
		if len(out.shards) > 0 {
			out.parts[i] = outlooks(parts[i], out.shards)
		}
	}
	return true
}

// apart returns the answer on base and in what that on head differs, nil when it
// cannot be told. To check that, head is answered as a whole.
func (w *World) apart(ctx context.Context, q Query, whole bool) (any, *comparison) {
	e, err := w.engines()
	if err != nil {
		return nil, nil
	}
	base := e.base.Execute(ctx, q.base)
	c := &comparison{}
	if w.thorough && !whole && !slices.ContainsFunc(q.base.Roots(), opaque) {
		head := e.head.Execute(ctx, q.head)
		if len(head.Errors) > 0 || !w.differing(q, base, head, c) {
			return nil, nil
		}
	} else {
		c = w.compare(ctx, q, whole)
	}
	if len(base.Errors) > 0 || c.doubt != "" {
		return nil, nil
	}
	return base.Data, c
}

// outlooks returns a desired state, in which the order of lists does not count, as
// shards see it.
func outlooks(documents []any, shards []integration.Selector) outlook {
	t := newTree(documents, shards, integration.OrderIgnored)
	return outlook{t.root.views(integration.OrderIgnored), t.root.rest}
}

// of is what one shard sees; one that is not there sees what everybody sees.
func (o outlook) of(shard string) string {
	if view, ok := o.views[shard]; ok {
		return view
	}
	return o.rest
}

// From returns the digest of what a shard sees, or the task of the whole when it
// is "". A shard sees what belongs to it and what belongs to every shard, see
// [Attribute]: when that is the same, nothing that differs is attributed to it.
func (s *Seen) From(shard string) string {
	if shard == "" || len(s.shards) == 0 {
		return s.whole
	}
	texts := []string{s.asks, fmt.Sprintf("%q", s.shards)}
	for _, part := range s.parts {
		texts = append(texts, part.of(shard))
	}
	return hexed(texts...)
}

// hexed digests texts, as "sha256:" and 64 hex digits.
func hexed(texts ...string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(hash(texts...))))
}
