package deploy

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// Validation is the shard of the mistakes of all data.
const Validation = "validation"

// A cellState is what one shard depends on.
type cellState struct {
	Key  string `json:"key"`
	Data any    `json:"data"`
}

// A findingState is a mistake of the data, without its place: it moves when entries are added.
type findingState struct {
	Code     plan.FindingCode `json:"code"`
	Severity plan.Severity    `json:"severity"`
	File     string           `json:"file"`
	Message  string           `json:"message"`
}

// DesiredState implements [integration.Stater]. The names of other saas files, which are the
// callers whose objects are left alone, are no part of it: in the dry run of a change they are
// those of base, see [side.desired].
func (deployer) DesiredState(ctx context.Context, query integration.QueryFunc, it settings.Integration) (any, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	m, err := saas.Read(ctx, query, s.Settings)
	if err != nil {
		return nil, err
	}
	if err := m.ReadJobs(ctx, query); err != nil {
		return nil, err
	}
	cells := []cellState{{Validation, findingStates(saas.Validate(m))}}
	for _, c := range m.Cells() {
		cells = append(cells, cellState{c.Key(), m.CellState(c)})
	}
	return map[string]any{"cells": cells}, nil
}

func findingStates(findings []plan.Finding) []findingState {
	out := []findingState{}
	for _, f := range findings {
		out = append(out, findingState{f.Code, f.Severity, f.File, f.Message})
	}
	slices.SortFunc(out, func(a, b findingState) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(string(a.Code), string(b.Code)),
			strings.Compare(a.Message, b.Message))
	})
	return out
}

// Shards implements [integration.Sharder].
func (deployer) Shards() settings.Shards {
	by, err := settings.ParseSelector("cells[*].key")
	if err != nil {
		panic(err) // the text is a constant
	}
	return settings.Shards{By: []settings.Selector{by}}
}

// callers returns the names of the saas files that are deployed.
func callers(m *saas.Model) []string {
	out := []string{}
	for _, f := range m.Files {
		if !f.Deprecated && !slices.Contains(out, f.Name) {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}
