package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// A desired tells how the desired state of an integration is found.
type desired struct {
	queries []query
	native  integration.StateFunc // when there are no queries
	shards  *settings.Shards
	order   settings.ListOrder
}

// declared returns the desired state that an integration declares; nil when it declares none.
func (c *prover) declared(it settings.Integration) (*desired, error) {
	if len(it.Queries) == 0 {
		return nil, nil
	}
	d := &desired{shards: it.Shards, order: it.ListOrder}
	for _, file := range it.Queries {
		raw, err := c.ReadQuery(file.Path)
		if err != nil {
			return nil, fmt.Errorf("integration %q: %w", it.Name, err)
		}
		d.queries = append(d.queries, query{file.Path, gql.Request{Query: string(raw)}})
	}
	return d, nil
}

// nativeState returns the desired state of a native integration. Queries and shards of the
// settings go before its own.
func nativeState(it settings.Integration, n integration.DryRunner, declared *desired) *desired {
	state := integration.StateOf(n, it)
	if state == nil || declared != nil {
		return declared
	}
	d := &desired{native: state, shards: it.Shards, order: it.ListOrder}
	if sharder, ok := integration.AsSharder(n); ok && d.shards == nil {
		shards := sharder.Shards()
		if shards.Max == 0 {
			shards.Max = settings.DefaultMaxShards
		}
		d.shards = &shards
	}
	return d
}

// byState asks whether the desired states differ, and for which shards.
func (c *prover) byState(ctx context.Context, d desired) need {
	lost, added, doubt := c.differences(ctx, d)
	w := writer{d.order}
	switch {
	case doubt != "":
		n := run(plan.RungState, plan.CodeStateUnproven)
		n.reason.Text = doubt
		return n
	case w.write(lost) == w.write(added):
		return skip(plan.RungState, plan.CodeSameState)
	case d.shards == nil || len(d.shards.By) == 0:
		return run(plan.RungState, plan.CodeStateDiffers)
	}
	keys, why := attribute(lost, added, d.shards.By, w)
	n := run(plan.RungShards, plan.CodeNotByShard)
	switch {
	case why != "":
		n.reason.Text = why
	case d.shards.Max > 0 && len(keys) > d.shards.Max:
		n.reason = plan.Reason{Code: plan.CodeTooManyShards, Count: len(keys), Of: d.shards.Max}
	default:
		n = need{action: plan.Shards, rung: plan.RungShards, keys: keys, reason: plan.Reason{Code: plan.CodeShardsDiffer,
			Names: keys}}
	}
	return n
}

// differences returns the desired states of both sides without what both have, one document
// for each query.
func (c *prover) differences(ctx context.Context, d desired) (lost, added list, doubt string) {
	if d.native != nil {
		was, err := c.stateOfNative(ctx, c.base, d.native)
		if err != nil {
			return nil, nil, "base: " + firstLine(err)
		}
		is, err := c.stateOfNative(ctx, c.head, d.native)
		if err != nil {
			return nil, nil, "head: " + firstLine(err)
		}
		return list{was}, list{is}, ""
	}
	for _, q := range d.queries {
		a := c.ask(ctx, q, d.order)
		if a.doubt != "" {
			return nil, nil, a.doubt
		}
		lost, added = append(lost, a.lost), append(added, a.added)
	}
	if ctx.Err() != nil {
		return nil, nil, "it was interrupted"
	}
	return lost, added, ""
}

// wholeStates returns the desired states of both sides with all that is in them. An error may
// hide a part of them.
func (c *prover) wholeStates(ctx context.Context, d desired) (documents list, doubt string) {
	if d.native != nil {
		base, head, doubt := c.differences(ctx, d)
		return append(base, head...), doubt
	}
	for _, q := range d.queries {
		a := c.ask(ctx, q, d.order)
		if a.doubt != "" || a.failed {
			return nil, "its shards are not known, since a query is answered with an error"
		}
		documents = append(documents, a.base, a.head)
	}
	return documents, ""
}

// stateOfNative returns the desired state of a native integration on a side. A panic becomes an error.
func (c *prover) stateOfNative(ctx context.Context, s *side, n integration.StateFunc) (state any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(crash.Text(p))
		}
	}()
	v, err := n(ctx, func(ctx context.Context, query string, variables map[string]any) ([]byte, error) {
		raw, err := json.Marshal(variables)
		if err != nil {
			return nil, err
		}
		v, err := bundle.ParseValue(raw)
		if err != nil {
			return nil, err
		}
		object, _ := v.(*bundle.Object)
		req := gql.Request{Query: query, Variables: object}
		c.asked.note(c.nameOf(s), "", req, false)
		res := s.answer(ctx, req)
		if len(res.Errors) > 0 {
			return nil, errors.New(res.Errors[0].Message)
		}
		return res.DataJSON(), nil
	})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	parsed, err := bundle.ParseValue(raw)
	return plain(parsed), err
}

// firstLine returns the first line of an error.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
