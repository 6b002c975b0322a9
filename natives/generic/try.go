package generic

import (
	"context"
	"errors"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/operation"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// try lets a server of Kubernetes check a step that it does not do. Other services cannot; and a
// body with secrets is not sent before the merge.
func (g *generic) try(ctx context.Context, env integration.Environment, p native.Part,
	s reconcile.Step) ([]reconcile.Change, error) {
	t, err := targetOf(p)
	if err != nil {
		return nil, err
	}
	e, ok := s.Item.Body.(*entry)
	if !ok || env.EndpointTrial == nil || e.family.FieldManager == "" || len(e.of.Secrets) > 0 {
		return nil, native.ErrNotTried
	}
	transport, err := env.EndpointTrial(ctx, t.EndpointRef)
	if err != nil {
		return nil, err
	}
	service, err := g.open(env, p, transport, g.reads)
	if err != nil {
		return nil, err
	}
	service.client.Trial = true
	service.entries[s.Key] = e
	d := &doer{service: service, env: env, hashKey: e.key}
	about, err := e.target()
	if err != nil {
		return nil, err
	}
	owner := reconcile.Owner{Integration: env.Integration, Caller: p.Caller}
	w := &writing{doer: d, entry: e, target: about, memory: &memory{key: s.Key}, step: s, fresh: s.Thing,
		mark: owner.Mark()}
	_, err = service.client.Write(ctx, about, &planner{writing: w}, noMemory{})
	if errors.Is(err, reconcile.ErrConflict) {
		return nil, native.ErrNotTried // somebody changed it just now, and the next dry run sees it
	}
	return s.Changes, err
}

// noMemory stores nothing: a trial leaves nothing behind.
type noMemory struct{}

func (noMemory) Intend(context.Context) error { return nil }

func (noMemory) Began(context.Context, operation.Operation) error { return nil }

var _ rest.Memory = noMemory{}
