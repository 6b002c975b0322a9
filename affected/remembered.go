package affected

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// A Memory keeps what is known of a bundle between processes. It returns the bytes that it was
// given under a key, or none.
type Memory interface {
	Recall(key string) ([]byte, bool)
	Remember(key string, raw []byte)
}

// baseFormat is the version of a baseState and of all that goes into its digests. A new version
// never reads old ones.
const baseFormat = "1"

// A baseState is what tasks see of base: the digest of the desired state, and the digests of its
// parts. It follows from the bytes of base and the queries alone.
type baseState struct {
	Whole   string            `json:"whole"`
	Views   map[string][]byte `json:"views,omitempty"` // by shard key
	Rest    []byte            `json:"rest,omitempty"`
	Grouped []byte            `json:"grouped,omitempty"`
}

// views returns the digests of the parts as shards see them.
func (s baseState) views() shardViews {
	out := shardViews{rest: string(s.Rest), grouped: string(s.Grouped), views: make(map[string]string, len(s.Views))}
	for key, view := range s.Views {
		out.views[key] = string(view)
	}
	return out
}

// baseState evaluates the queries on base, or recalls what that led to before. It returns false
// when an answer has errors, or is not known.
func (c *Comparison) baseState(ctx context.Context, queries []CompiledQuery, v *VisibleState,
	order settings.ListOrder) (baseState, bool) {
	key := "visible-" + hexDigest(baseFormat, trace.Version, c.base.SHA256(), v.queries, order.String(),
		fmt.Sprintf("%q", v.shards))[len("sha256:"):]
	if c.Memory != nil {
		if raw, ok := c.Memory.Recall(key); ok {
			known := baseState{}
			if json.Unmarshal(raw, &known) == nil && known.Whole != "" {
				return known, true
			}
		}
	}
	e, err := c.engines()
	if err != nil {
		return baseState{}, false
	}
	var documents []any
	for _, q := range queries {
		answer := e.base.Execute(ctx, q.base)
		if len(answer.Errors) > 0 || ctx.Err() != nil {
			return baseState{}, false
		}
		documents = append(documents, answer.Data)
	}
	out := baseState{Whole: Digest(documents, order)}
	if len(v.shards) > 0 {
		views := viewsOf(documents, v.shards)
		out.Rest, out.Grouped, out.Views = []byte(views.rest), []byte(views.grouped),
			make(map[string][]byte, len(views.views))
		for key, view := range views.views {
			out.Views[key] = []byte(view)
		}
	}
	if c.Memory != nil {
		if raw, err := json.Marshal(out); err == nil {
			c.Memory.Remember(key, raw)
		}
	}
	return out, true
}
