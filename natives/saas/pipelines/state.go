package pipelines

import (
	"context"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/settings"
)

// A desiredState is all that the loop reads of the data, by saas file.
type desiredState struct {
	Files    []fileState `json:"files"`
	Findings []string    `json:"findings,omitempty"`
}

type fileState struct {
	Name     string        `json:"name"`
	Provider providerState `json:"provider"`
	Timeout  string        `json:"timeout,omitempty"`
	Cells    []any         `json:"cells"`
	Sources  []sourceState `json:"sources,omitempty"`
	Slack    bool          `json:"slack,omitempty"`
}

type providerState struct {
	Name      string                 `json:"name"`
	Kind      string                 `json:"kind"`
	Template  string                 `json:"template"`
	Namespace string                 `json:"namespace"`
	Console   string                 `json:"console"`
	Cluster   integration.ClusterRef `json:"cluster"`
	Problem   string                 `json:"problem,omitempty"`
}

// A sourceState is what the loop asks for a target, beyond what triggers a deploy.
type sourceState struct {
	UID      string              `json:"uid"`
	Upstream *saas.Upstream      `json:"upstream,omitempty"`
	SLOs     []*saas.SLODocument `json:"slos,omitempty"`
}

// DesiredState implements [integration.Stater].
func (native) DesiredState(ctx context.Context, query integration.QueryFunc, it settings.Integration) (any, error) {
	s, err := readSettings(it.Own)
	if err != nil {
		return nil, err
	}
	m, err := saas.Read(ctx, query, s.Settings)
	if err != nil {
		return nil, err
	}
	cells := map[*saas.File][]saas.Cell{}
	for _, c := range m.Cells() {
		cells[c.File] = append(cells[c.File], c)
	}
	out := desiredState{Files: []fileState{}}
	for _, f := range m.Files {
		of := fileState{Name: f.Name, Provider: providerOf(f.Provider), Timeout: f.Timeout, Cells: []any{},
			Slack: f.AsksForSlack}
		for _, c := range cells[f] {
			of.Cells = append(of.Cells, m.CellState(c))
			for _, t := range c.Targets {
				if t.Upstream != nil || len(t.SLOs) > 0 {
					of.Sources = append(of.Sources, sourceState{UID: t.UID(), Upstream: t.Upstream, SLOs: t.SLOs})
				}
			}
		}
		out.Files = append(out.Files, of)
	}
	for _, f := range m.Findings {
		out.Findings = append(out.Findings, string(f.Code)+" "+f.File+": "+f.Message)
	}
	return out, nil
}

// providerOf returns what of a provider is read.
func providerOf(p saas.Provider) providerState {
	out := providerState{Name: p.Name, Kind: p.Kind, Template: p.Template, Namespace: p.Namespace.Name}
	if c := p.Namespace.Cluster; c != nil {
		out.Console, out.Cluster, out.Problem = c.ConsoleURL, c.Ref, c.Problem
	}
	return out
}
