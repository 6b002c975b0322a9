package affected

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/trace"
)

// A requestKey is a request for one side.
type requestKey struct {
	side                        trace.Side
	query, operation, variables string
	emptyName                   bool
}

// keyOfRequest returns the key of a request.
func keyOfRequest(side trace.Side, req gql.Request) requestKey {
	key := requestKey{side: side, query: req.Query, operation: req.Operation, emptyName: req.EmptyName}
	if req.Variables != nil {
		key.variables = string(bundle.AppendOrdered(nil, req.Variables)) // the order of keys counts in a filter
	}
	return key
}

// FindProof returns the first trace which proves that a task would get the same
// answers on head as when it passed. If there is none, doubt says why the first trace
// proves nothing.
func (c *Comparison) FindProof(ctx context.Context, traces []*trace.Trace) (proof *trace.Trace, doubt string) {
	for _, t := range traces {
		c.learn(t)
		why := t.Proves(func(side trace.Side, req gql.Request, recorded string) (bool, error) {
			return c.isAnswer(ctx, side, req, recorded)
		})
		if why == "" {
			return t, ""
		}
		if doubt == "" {
			doubt = why
		}
	}
	return nil, doubt
}

// CompareRequests asks both sides all requests of a trace. It returns "" when they
// answer alike, to the byte. Otherwise it returns the name of the first request that
// they answer differently, or why that is not known.
func (c *Comparison) CompareRequests(ctx context.Context, t *trace.Trace) (doubt string) {
	if why := t.Doubt(); why != "" {
		return why
	}
	for _, r := range t.Requests {
		req, err := r.GraphQL()
		if err != nil {
			return err.Error()
		}
		base, err := c.answerDigest(ctx, trace.Base, req)
		if err != nil {
			return err.Error()
		}
		same, err := c.isAnswer(ctx, trace.Head, req, base)
		if err != nil {
			return err.Error()
		}
		if !same {
			return fmt.Sprintf("base and head answer %q differently", r.Name())
		}
	}
	return ""
}

// RecordedQueries returns the requests of a trace as queries, each once.
func (c *Comparison) RecordedQueries(t *trace.Trace) ([]CompiledQuery, error) {
	var out []CompiledQuery
	known := map[requestKey]bool{}
	for _, r := range t.Requests {
		req, err := r.GraphQL()
		if err != nil {
			return nil, err
		}
		key := keyOfRequest(trace.Head, req)
		if known[key] {
			continue
		}
		known[key] = true
		q, err := c.Compile(r.Name(), req)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

// learn takes over the answers of a trace that was recorded over one of the bundles
// at hand, since a bundle always gives a request the same answer.
func (c *Comparison) learn(t *trace.Trace) {
	for _, r := range t.Requests {
		sha := t.Head
		if r.Side == trace.Base {
			sha = t.Base
		}
		req, err := r.GraphQL()
		if err != nil {
			return
		}
		for side, b := range map[trace.Side]*bundle.Bundle{trace.Base: c.base, trace.Head: c.head} {
			if sha == b.SHA256() {
				c.answers[keyOfRequest(side, req)] = r.Answer
			}
		}
	}
}

// isAnswer tells whether one side answers a request with the answer that has a digest. If base
// gives this answer, and what head can see of the change differs, then head gives another: it is
// not evaluated as a whole.
func (c *Comparison) isAnswer(ctx context.Context, side trace.Side, req gql.Request, want string) (bool, error) {
	_, isKnown := c.answers[keyOfRequest(side, req)]
	if side == trace.Head && !isKnown && c.answers[keyOfRequest(trace.Base, req)] == want && c.differs(ctx, req) {
		return false, nil
	}
	digest, err := c.answerDigest(ctx, side, req)
	return err == nil && digest == want, err
}

// differs tells whether both sides are known to answer a request differently, by the root elements
// that can see the change. It says no where that is not certain. It may say yes if an error takes
// all data out of both answers: nothing is skipped then.
func (c *Comparison) differs(ctx context.Context, req gql.Request) bool {
	if c.isLive() || c.typesChanged() || !c.mentions().IsComplete() {
		return false
	}
	q, err := c.Compile("", req)
	if err != nil || q.Doubt != "" || q.base == nil || q.base != q.head {
		return false
	}
	d := c.compareAnswers(ctx, q, false)
	return d.compared && d.doubt == "" && !d.evidence.Complete && ctx.Err() == nil
}

// answerDigest returns the digest of the answer of one side to a request, as a
// server would give it.
func (c *Comparison) answerDigest(ctx context.Context, side trace.Side, req gql.Request) (string, error) {
	key := keyOfRequest(side, req)
	if digest, ok := c.answers[key]; ok {
		return digest, nil
	}
	if digest, ok := c.answers[keyOfRequest(trace.Base, req)]; ok && side == trace.Head && c.isUnaffected(req) {
		c.answers[key] = digest
		return digest, nil
	}
	base, head, err := c.answerers(c.fullEngines)
	if err != nil {
		return "", fmt.Errorf("the GraphQL types of a bundle cannot be used: %w", err)
	}
	answerer := head
	if side == trace.Base {
		answerer = base
	}
	res := answerer.Answer(ctx, req)
	if ctx.Err() != nil {
		return "", errors.New("it was interrupted")
	}
	digest := trace.Answer(res.Status, res.JSON())
	c.answers[key] = digest
	return digest, nil
}
