package native

import (
	"context"
	"errors"

	"github.com/app-sre/prcheck/integration"
)

// errTold says why a target is not asked where the data alone are told.
var errTold = errors.New("the data alone were compared")

// Tell implements [integration.Teller]: it is the dry run of a change without what could reach anything.
func (m made) Tell(ctx context.Context, env integration.Environment) error {
	env.State, env.Secret, env.Cluster, env.Bucket, env.Endpoint = nil, nil, nil, nil, nil
	env.EndpointTrial, env.Trial, env.Variable = nil, nil, nil
	w, err := m.open(ctx, env)
	if err != nil {
		return nothingDone(err)
	}
	w.isTold = true
	for _, u := range w.units {
		u.isAsked = false
	}
	if err := w.check(ctx); err != nil {
		return nothingDone(err)
	}
	w.reportFindings()
	w.checkChange()
	w.reportSteps()
	return w.join(nil)
}
