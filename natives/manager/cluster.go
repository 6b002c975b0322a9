package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/plan"
)

// A cluster is a cluster of the data.
type cluster struct {
	Path                  string           `json:"path"`
	Name                  string           `json:"name"`
	ServerURL             *string          `json:"serverUrl"`
	InsecureSkipTLSVerify *bool            `json:"insecureSkipTLSVerify"`
	JumpHost              *json.RawMessage `json:"jumpHost"`
	AutomationToken       *struct {
		Path    string       `json:"path"`
		Field   string       `json:"field"`
		Version *json.Number `json:"version"`
	} `json:"automationToken"`
	Disable *struct {
		Integrations []string `json:"integrations,omitempty"`
	} `json:"disable"`
}

// askClusters asks for the clusters.
func (w *world) askClusters(ctx context.Context, query integration.QueryFunc) error {
	raw, err := query(ctx, clusterQuery, nil)
	if partial := (*integration.AnswerError)(nil); errors.As(err, &partial) {
		mistakes, ok := mistakesIn(partial, "clusters")
		if !ok {
			return fmt.Errorf("asking for the clusters: %w", err)
		}
		for _, m := range mistakes {
			w.unnamed = append(w.unnamed, m.message)
		}
		slices.Sort(w.unnamed)
		raw = partial.Data
	} else if err != nil {
		return fmt.Errorf("asking for the clusters: %w", err)
	}
	var answer struct {
		Clusters []*cluster `json:"clusters"`
	}
	if err := integration.DecodeAnswer(raw, &answer); err != nil {
		return fmt.Errorf("asking for the clusters: %w", err)
	}
	w.clusters = map[string]cluster{}
	for i, c := range answer.Clusters {
		switch {
		case c != nil:
			w.clusters[c.Name] = *c
		case len(w.unnamed) == 0:
			return fmt.Errorf("asking for the clusters: data.clusters[%d] is null: %w", i, integration.ErrNotWhole)
		}
	}
	return nil
}

// ref returns how a cluster is reached. A token goes only to the address that stands beside it
// in its secret.
func (c cluster) ref() integration.ClusterRef {
	r := integration.ClusterRef{Name: c.Name, ServerField: "server"}
	if c.ServerURL != nil {
		r.Server = *c.ServerURL
	}
	if t := c.AutomationToken; t != nil {
		r.Token = integration.SecretRef{Path: t.Path, Field: t.Field}
		if t.Version != nil {
			r.Token.Version = t.Version.String()
		}
	}
	r.Insecure = c.InsecureSkipTLSVerify != nil && *c.InsecureSkipTLSVerify
	return r
}

// problem returns why a cluster cannot be used although nobody disabled it, or "".
func (c cluster) problem() string {
	switch {
	case c.ServerURL == nil || *c.ServerURL == "":
		return "has no serverUrl"
	case c.AutomationToken == nil:
		return "has no automationToken"
	case c.JumpHost != nil:
		return "is behind a jump host, which is not supported"
	}
	return ""
}

// disables reports whether a cluster disables an integration.
func (c cluster) disables(name string) bool {
	return c.Disable != nil && slices.Contains(c.Disable.Integrations, name)
}

// codeCluster is the code of a cluster that cannot be used.
const codeCluster plan.FindingCode = "CLUSTER"

// place sets how the cluster of a part is reached. It returns what is wrong with the cluster.
func (w *world) place(p *native.Part, name, self string) *plan.Finding {
	c, ok := w.clusters[name]
	p.Lease = "cluster/" + name
	p.Target = c.ref()
	f := &plan.Finding{Code: codeCluster, Severity: plan.SeverityError, Place: plan.Place{File: c.Path}}
	switch {
	case !ok:
		p.Target = integration.ClusterRef{Name: name}
		f.Message = strings.Join(append([]string{fmt.Sprintf("the cluster %q cannot be read", name)}, w.unnamed...), ": ")
	case c.disables(self):
		p.Skip = fmt.Sprintf("the cluster %q disables %s", name, self)
		return nil
	case c.problem() == "":
		return nil
	default:
		f.Message = fmt.Sprintf("the cluster %q %s, so nothing is done there", name, c.problem())
		f.Pointer = c.pointer()
	}
	p.Skip = f.Message
	return f
}

// namespaceName is what Kubernetes accepts as the name of a namespace. A slash would name another.
var namespaceName = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// unusable returns what is wrong with the name of a namespace, nil if nothing is.
func (n namespace) unusable() *plan.Finding {
	if namespaceName.MatchString(n.Name) {
		return nil
	}
	return &plan.Finding{Code: codeNamespace, Severity: plan.SeverityError,
		Place: plan.Place{File: n.Path, Pointer: "/name"},
		Message: fmt.Sprintf("%.80q can be no namespace of Kubernetes, so nothing is done there; use lower-case letters, "+
			"digits and dashes, at most 63", n.Name)}
}

// pointer returns the place of the problem in the datafile.
func (c cluster) pointer() string {
	if c.ServerURL == nil || *c.ServerURL == "" {
		return "/serverUrl"
	}
	if c.AutomationToken != nil {
		return "/jumpHost"
	}
	return "" // there is no automationToken
}

// left returns the part of a namespace that left the data.
func (b *builder) left(p native.Part) (native.Part, error) {
	shard, caller := p.Shard, p.Caller
	for _, d := range b.world.definitions {
		for _, e := range d.entries {
			if d.upstream() == caller && e.Namespace != nil && e.Namespace.key() == shard {
				return p, errors.New("the data name it still, and the settings leave it out: another manager may deploy to it")
			}
		}
	}
	name := shard[:max(0, strings.LastIndexByte(shard, '/'))]
	if _, ok := b.world.clusters[name]; !ok {
		return p, fmt.Errorf("the cluster %q is not in the data any more", name)
	}
	if f := b.world.place(&p, name, b.self); f != nil {
		return p, errors.New(f.Message)
	}
	if p.Skip != "" {
		return p, errors.New(p.Skip)
	}
	return p, nil
}

// targets returns how all clusters of the data are reached.
func (w *world) targets() []any {
	var out []any
	for _, name := range sortedKeys(w.clusters) {
		if c := w.clusters[name]; c.problem() == "" {
			out = append(out, c.ref())
		}
	}
	return out
}
