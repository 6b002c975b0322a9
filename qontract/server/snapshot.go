package server

import (
	"fmt"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// A Snapshot is a bundle with an engine that answers queries over it.
type Snapshot struct {
	Bundle *bundle.Bundle
	Schema *gql.Schema
	Engine *gql.Engine
}

// NewSnapshots returns snapshots of both bundles of a change. They share their GraphQL types
// if these are equal.
func NewSnapshots(base, head *bundle.Bundle) (*Snapshot, *Snapshot, error) {
	b, err := newSnapshot(base, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("base: %w", err)
	}
	h, err := newSnapshot(head, b)
	if err != nil {
		return nil, nil, fmt.Errorf("head: %w", err)
	}
	return b, h, nil
}

// newSnapshot returns a snapshot of a bundle. It reuses the GraphQL types of the snapshot
// like, which may be nil, if they are equal.
func newSnapshot(b *bundle.Bundle, like *Snapshot) (*Snapshot, error) {
	var schema *gql.Schema
	if like != nil && b.HasSameGraphQL(like.Bundle) {
		schema = like.Schema
	} else {
		var err error
		if schema, err = gql.NewSchema(b.GraphQL()); err != nil {
			return nil, err
		}
	}
	return &Snapshot{b, schema, gql.New(b, schema)}, nil
}

// compile parses and checks a request.
func (s *Snapshot) compile(req gql.Request) (*gql.Query, error) { return s.Schema.Compile(req) }
