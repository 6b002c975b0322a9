package server

import (
	"fmt"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// A Snapshot is a bundle that can be asked.
type Snapshot struct {
	Bundle *bundle.Bundle
	Schema *gql.Schema
	Engine *gql.Engine
}

// Snapshots makes both bundles of a change askable. They share what they have
// in common.
func Snapshots(base, head *bundle.Bundle) (*Snapshot, *Snapshot, error) {
	b, err := newSnapshot(base, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("base: %w", err)
	}
	var shared *gql.Schema
	if base.SameGraphQL(head) {
		shared = b.Schema
	}
	h, err := newSnapshot(head, shared)
	if err != nil {
		return nil, nil, fmt.Errorf("head: %w", err)
	}
	return b, h, nil
}

func newSnapshot(b *bundle.Bundle, schema *gql.Schema) (*Snapshot, error) {
	if schema == nil {
		var err error
		if schema, err = gql.NewSchema(b.GraphQL()); err != nil {
			return nil, err
		}
	}
	return &Snapshot{b, schema, gql.New(b, schema)}, nil
}
