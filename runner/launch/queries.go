package launch

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// Queries answer the queries of native integrations that run outside of a plan.
type Queries struct {
	open func(ctx context.Context, name string) (endpoint, error)
}

// Queries returns what answers queries over head, with the rights that the definitions in it
// give. The bundle base is not needed.
func (e Equipment) Queries() (*Queries, error) {
	e.Base = e.Head
	open, err := e.endpoints()
	if err != nil {
		return nil, err
	}
	return &Queries{func(ctx context.Context, name string) (endpoint, error) {
		opened, err := open(ctx, plan.Task{Integration: name, Native: true})
		if err != nil {
			return endpoint{}, fmt.Errorf("opening the endpoint: %w", err)
		}
		return opened.(endpoint), nil
	}}, nil
}

// Open returns the function that answers the queries of an integration until it is closed.
// Closing returns a [wrapper.ConfigError] if the integration read what it may not read.
func (q *Queries) Open(ctx context.Context, name string) (query integration.QueryFunc, end func() error, err error) {
	opened, err := q.open(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return queryFunc(opened.URL(), opened.token), opened.Close, nil
}
