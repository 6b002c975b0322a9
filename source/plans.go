package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
)

// ReadPlan reads a plan file, as the flag --plan names it.
func ReadPlan(name string) (*plan.Plan, error) {
	if name == "" {
		return nil, cli.Usage(errors.New("--plan is required: the plan that planner wrote"))
	}
	f, err := safepath.Open(name)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading plan: %w", err))
	}
	defer f.Close()
	p, err := plan.Read(f)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("plan %q: %w", name, err))
	}
	return p, nil
}

// FetchPlan is [ReadPlan] for a plan that may be an object.
func FetchPlan(ctx context.Context, name string) (*plan.Plan, error) {
	if !IsObject(name) {
		return ReadPlan(name)
	}
	raw, err := read(ctx, name)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading plan: %w", err))
	}
	p, err := plan.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("plan %q: %w", name, err))
	}
	return p, nil
}
