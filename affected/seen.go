package affected

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/trace"
)

// A Seen is what the tasks of an integration see of its desired states on base
// and head.
type Seen struct {
	asks   string // stands for the queries
	whole  string
	shards []integration.Selector // empty: every shard sees the whole
	sides  [2]outlook
}

// An outlook is a desired state as shards see it.
type outlook struct {
	views map[string]string // by key
	rest  string            // what each key sees
}

// See evaluates the desired states of an integration as a whole. It returns false
// when they cannot be told, or a live server answers, whose states are compared
// only where a change can reach.
func (w *World) See(ctx context.Context, s Subject) (*Seen, bool) {
	if s.State != nil || len(s.Queries) == 0 || w.live != nil {
		return nil, false
	}
	var documents [2][]any
	asks := []string{s.Order.String()}
	for _, q := range s.Queries {
		if q.Doubt != "" {
			return nil, false
		}
		base, head, err := w.responses(ctx, q)
		if err != nil || len(base.Errors)+len(head.Errors) > 0 || ctx.Err() != nil {
			return nil, false
		}
		documents[0], documents[1] = append(documents[0], base.Data), append(documents[1], head.Data)
		key := asked(trace.Base, q.request)
		asks = append(asks, key.query, key.operation, key.variables)
	}
	out := &Seen{asks: hash(asks...)}
	out.whole = hexed(out.asks, Digest(documents[0], s.Order), Digest(documents[1], s.Order))
	if s.Shards == nil || s.Order == integration.OrderSignificant { // an order belongs to every shard
		return out, true
	}
	if out.shards = s.Shards.By; len(out.shards) > 0 {
		out.sides = [2]outlook{outlooks(documents[0], out.shards), outlooks(documents[1], out.shards)}
	}
	return out, true
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
	return hexed(s.asks, fmt.Sprintf("%q", s.shards), s.sides[0].of(shard), s.sides[1].of(shard))
}

// hexed digests texts, as "sha256:" and 64 hex digits.
func hexed(texts ...string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(hash(texts...))))
}
