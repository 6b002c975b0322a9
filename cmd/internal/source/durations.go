package source

import (
	"github.com/app-sre/prcheck/blame"
	"github.com/app-sre/prcheck/durations"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/state"
)

// Durations opens what is remembered of how long tasks took; nil without a
// folder.
func Durations(folder string) (*durations.Store, error) {
	if folder == "" {
		return nil, nil
	}
	dir, err := state.Open(folder)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	store := durations.NewStore(dir)
	return &store, nil
}

// Blame opens what is remembered of how tasks ended; nil without a folder.
func Blame(folder string) (*blame.Store, error) {
	if folder == "" {
		return nil, nil
	}
	dir, err := state.Open(folder)
	if err != nil {
		return nil, cli.Invalid(err)
	}
	store := blame.NewStore(dir)
	return &store, nil
}

// estimates are those that a plan is made with; nil without a folder.
func estimates(folder string) (planner.Estimates, error) {
	took, err := Durations(folder)
	if took == nil || err != nil {
		return nil, err
	}
	return took.Snapshot(), nil
}
