package affected

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// A VisibleState is the part of an integration's desired states on base and head
// that its tasks see: the desired state of base, and the difference of head.
type VisibleState struct {
	queries string // digest of the queries
	whole   string // digest of both states as a whole
	shards  []settings.Selector
	parts   [3]shardViews // base, what head lost of it, what head adds; empty without shards
}

// shardViews are the digests of a desired state, or of a part of it, as shards see it.
type shardViews struct {
	views   map[string]string // by shard key
	rest    string            // the part that every shard sees
	grouped string            // the elements in which keys stand together; every shard sees them
}

// VisibleState evaluates the desired state of an integration on base as a whole,
// and on head where the change can reach it. It returns false when a state cannot
// be told, or when a live server answers.
func (c *Comparison) VisibleState(ctx context.Context, s Subject) (*VisibleState, bool) {
	if s.State != nil || len(s.Queries) == 0 || c.isLive() {
		return nil, false
	}
	texts := []string{s.Order.String()}
	for _, q := range s.Queries {
		if q.Doubt != "" {
			return nil, false
		}
		key := keyOfRequest(trace.Base, q.request)
		texts = append(texts, key.query, key.operation, key.variables)
	}
	out := &VisibleState{queries: hash(texts...)}
	if s.Shards != nil && s.Order == settings.OrderIgnored { // an order belongs to every shard
		out.shards = s.Shards.By
	}
	key := out.queries + fmt.Sprintf("%q", out.shards)
	if known, ok := c.visible[key]; ok {
		return known, known != nil
	}
	if !c.evaluateVisible(ctx, s.Queries, out, s.Order) {
		out = nil
	}
	c.visible[key] = out
	return out, out != nil
}

// evaluateVisible evaluates the queries and completes out. It returns false when
// an answer cannot be told.
func (c *Comparison) evaluateVisible(ctx context.Context, queries []CompiledQuery, out *VisibleState,
	order settings.ListOrder) bool {
	whole := c.typesChanged() || order == settings.OrderSignificant || !c.mentions().IsComplete()
	base, ok := c.baseState(ctx, queries, out, order)
	if !ok {
		return false
	}
	var parts [2][]any // what head lost, and what it adds
	for _, q := range queries {
		d := c.compareAnswers(ctx, q, whole)
		if d.doubt != "" || ctx.Err() != nil {
			return false
		}
		for i, side := range []any{d.base, d.head} {
			if !d.compared {
				side = &bundle.Object{}
			}
			parts[i] = append(parts[i], side)
		}
	}
	out.whole = hexDigest(out.queries, base.Whole, Digest(parts[0], order), Digest(parts[1], order))
	if len(out.shards) > 0 {
		out.parts = [3]shardViews{base.views(), viewsOf(parts[0], out.shards), viewsOf(parts[1], out.shards)}
	}
	return true
}

// viewsOf returns a desired state, in which the order of lists does not count, as
// shards see it.
func viewsOf(documents []any, shards []settings.Selector) shardViews {
	t := newTree(documents, shards, settings.OrderIgnored)
	return shardViews{t.root.views(settings.OrderIgnored), t.root.rest, hash(t.root.grouped()...)}
}

// of returns what one shard sees. A shard that the state does not have sees the parts
// that every shard sees.
func (v shardViews) of(shard string) string {
	view, ok := v.views[shard]
	if !ok {
		view = v.rest
	}
	return hash(view, v.grouped)
}

// Digest returns the digest of the state that a shard sees, or of the whole state
// when shard is "". A shard sees the parts that belong to it, the parts that belong to
// every shard, and the elements of the top level in which several keys stand together.
// When two states have the same digest for a shard, [Attribute] does not name the
// shard, and finds no reason for a full run.
func (s *VisibleState) Digest(shard string) string {
	if shard == "" || len(s.shards) == 0 {
		return s.whole
	}
	texts := []string{s.queries, fmt.Sprintf("%q", s.shards)}
	for _, part := range s.parts {
		texts = append(texts, part.of(shard))
	}
	return hexDigest(texts...)
}

// hexDigest returns the digest of texts as "sha256:" and 64 hex digits.
func hexDigest(texts ...string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(hash(texts...))))
}
