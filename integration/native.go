package integration

import (
	"context"
	"io"

	"github.com/app-sre/prcheck/plan"
)

// A QueryFunc answers a GraphQL query over one bundle. It returns the data of the
// response as JSON.
type QueryFunc func(ctx context.Context, query string, variables map[string]any) ([]byte, error)

// An Environment is what a native integration gets when it runs.
type Environment struct {
	Query QueryFunc // answers queries over the bundle
	Log   io.Writer // takes the output of the integration
	Shard string    // the shard to work on; "" means all shards
}

// A Native is an integration that is written in Go and part of the program.
type Native interface {
	// Name returns the integration's name in the bundle.
	Name() string
	// Run changes the live systems so that they match the desired state. If
	// dryRun is set, it only logs the changes that it would make.
	Run(ctx context.Context, env Environment, dryRun bool) error
}

// An Announcer is a native integration that hands over the effects of a dry run. A dry run
// calls DryRun in place of Run. Without it, effects are found in what the integration logs.
type Announcer interface {
	// DryRun changes nothing. It returns what Run would create, change and delete.
	DryRun(ctx context.Context, env Environment) ([]plan.Effect, error)
}

// A Stater is a native integration that can compute its desired state. It is skipped
// if the desired states of base and head are equal.
//
// The desired state must depend on nothing but the answers of query: not on a clock, a
// service or a file. It must contain all data of the bundle that Run uses. It must be
// complete when it is encoded as JSON, because the JSON is compared. An error is always
// safe: the integration then runs in full.
type Stater interface {
	DesiredState(ctx context.Context, query QueryFunc) (any, error)
}

// A Sharder is a native integration that can run on one shard of its work. The
// selectors of its shards are paths through its desired state. Shards in prcheck.yaml
// replace those of the Sharder.
type Sharder interface {
	Shards() Shards
}

// AsStater returns n as a Stater, if n has a desired state.
func AsStater(n Native) (Stater, bool) {
	s, ok := n.(Stater)
	return s, ok
}

// AsAnnouncer returns n as an Announcer, if it hands over effects.
func AsAnnouncer(n Native) (Announcer, bool) {
	a, ok := n.(Announcer)
	return a, ok
}

// AsSharder returns n as a Sharder, if n has shards.
func AsSharder(n Native) (Sharder, bool) {
	s, ok := n.(Sharder)
	return s, ok
}
