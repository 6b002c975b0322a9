package integration

import (
	"context"
	"io"
)

// A QueryFunc answers a GraphQL query over one bundle with the data of the
// response, as JSON.
type QueryFunc func(ctx context.Context, query string, variables map[string]any) ([]byte, error)

// A World is all that a native integration may use of what surrounds it.
type World struct {
	Query QueryFunc
	Log   io.Writer
	Shard string // the shard to work on, "" for all
}

// A Native is an integration written in Go against this package.
type Native interface {
	// Name is the integration's name in the bundle.
	Name() string
	// Run brings the world to its desired state; with dryRun it only logs
	// what it would do.
	Run(ctx context.Context, w World, dryRun bool) error
}

// A Stater is a native integration that can tell its desired state, so that it
// is skipped when base and head desire the same.
//
// The state must be a pure function of the bundle: it comes from query and
// nothing else, no clock, no service, no file. It must hold everything of the
// bundle that Run acts upon. It must survive encoding to JSON, because that is
// what is compared. An error is always safe: the integration runs in full.
type Stater interface {
	DesiredState(ctx context.Context, query QueryFunc) (any, error)
}

// A Sharder is a native integration that can run on a part of its work; the
// selectors of its shards lead through its desired state. Settings in
// prcheck.yaml come first.
type Sharder interface {
	Shards() Shards
}

// StateOf finds the desired state of n, if it tells one.
func StateOf(n Native) (Stater, bool) {
	s, ok := n.(Stater)
	return s, ok
}

// ShardsOf finds the shards of n, if it tells any.
func ShardsOf(n Native) (Sharder, bool) {
	s, ok := n.(Sharder)
	return s, ok
}
