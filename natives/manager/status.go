package manager

import (
	"context"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// statusOf returns how an object stands.
func statusOf(_ context.Context, _ integration.Environment, _ native.Part, s reconcile.Step, _ *reconcile.Result,
	_ integration.Status) integration.Status {
	if s.Thing == nil {
		return manifests.StatusOf(s, nil)
	}
	p, _ := s.Thing.Body.(process)
	return manifests.StatusOf(s, p.Live)
}
