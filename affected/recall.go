package affected

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
	"github.com/app-sre/prcheck/trace"
)

// An askedKey is a request for one side.
type askedKey struct {
	side                        trace.Side
	query, operation, variables string
	emptyName                   bool
}

// Recall tells whether one of the traces proves that a task would see on head
// what it saw when it passed, and which. Otherwise why says what is in doubt
// about the first of them.
func (w *World) Recall(ctx context.Context, traces []*trace.Trace) (proof *trace.Trace, why string) {
	for _, t := range traces {
		if !w.thorough {
			w.learn(t)
		}
		doubt := t.Proves(func(side trace.Side, req gql.Request) (string, error) { return w.answered(ctx, side, req) })
		if doubt == "" {
			return t, ""
		}
		if why == "" {
			why = doubt
		}
	}
	return nil, why
}

// Unchanged tells whether both sides answer alike, to the byte, to all that a
// trace asked: "" when they do, otherwise the name of the first request to which
// they do not, or why that is not known.
func (w *World) Unchanged(ctx context.Context, t *trace.Trace) string {
	if why := t.Doubt(); why != "" {
		return why
	}
	for _, r := range t.Requests {
		req, err := r.GraphQL()
		if err != nil {
			return err.Error()
		}
		base, err := w.answered(ctx, trace.Base, req)
		if err != nil {
			return err.Error()
		}
		head, err := w.answered(ctx, trace.Head, req)
		if err != nil {
			return err.Error()
		}
		if base != head {
			return fmt.Sprintf("base and head answer %q differently", r.Name())
		}
	}
	return ""
}

// Recorded returns the requests of a trace as queries to compare, each once.
func (w *World) Recorded(t *trace.Trace) ([]Query, error) {
	var out []Query
	known := map[askedKey]bool{}
	for _, r := range t.Requests {
		req, err := r.GraphQL()
		if err != nil {
			return nil, err
		}
		key := asked(trace.Head, req)
		if known[key] {
			continue
		}
		known[key] = true
		q, err := w.Compile(r.Name(), req)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

func asked(side trace.Side, req gql.Request) askedKey {
	key := askedKey{side: side, query: req.Query, operation: req.Operation, emptyName: req.EmptyName}
	if req.Variables != nil {
		key.variables = bundle.Canonical(req.Variables)
	}
	return key
}

// learn takes over the answers of a trace that was recorded over one of the
// bundles at hand: a bundle answers a request always alike.
func (w *World) learn(t *trace.Trace) {
	for _, r := range t.Requests {
		sha := t.Head
		if r.Side == trace.Base {
			sha = t.Base
		}
		req, err := r.GraphQL()
		if err != nil {
			return
		}
		for side, b := range map[trace.Side]*bundle.Bundle{trace.Base: w.base, trace.Head: w.head} {
			if sha == b.SHA256() {
				w.digests[asked(side, req)] = r.Answer
			}
		}
	}
}

// answered returns the digest of what a side answers, as a whole and as a
// server would.
func (w *World) answered(ctx context.Context, side trace.Side, req gql.Request) (string, error) {
	key := asked(side, req)
	if digest, ok := w.digests[key]; ok {
		return digest, nil
	}
	if digest, ok := w.digests[asked(trace.Base, req)]; ok && side == trace.Head && !w.thorough && w.untouched(req) {
		w.digests[key] = digest
		return digest, nil
	}
	on, err := w.whole()
	if err != nil {
		return "", fmt.Errorf("the GraphQL types of a bundle cannot be used: %w", err)
	}
	answerer := on.head
	if side == trace.Base {
		answerer = on.base
	}
	res := answerer.Answer(ctx, req)
	if ctx.Err() != nil {
		return "", errors.New("it was interrupted")
	}
	digest := trace.Answer(res.Status, res.JSON())
	w.digests[key] = digest
	return digest, nil
}
