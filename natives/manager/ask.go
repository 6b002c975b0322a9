package manager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/settings"
)

// A world is all that the manager asks of the data.
type world struct {
	definitions []definition // sorted by name and path
	clusters    map[string]cluster
	unnamed     []string // mistakes of clusters that cannot be told by name
	hashLength  int      // of abbreviated commits; 0 if the data do not say
	objects     sharding.Answers
	template    *string // text of the resource with the template of pods; nil: there is none
}

// A definition is the definition of an integration, as far as it says where it runs.
type definition struct {
	Path     string            `json:"path"`
	Name     string            `json:"name"`
	Upstream *string           `json:"upstream"`
	Managed  []json.RawMessage `json:"managed,omitempty"`

	entries []entry
	mistake mistake // of the definition, which cannot be used then
}

// An entry is an element of managed.
type entry struct {
	Delete    json.RawMessage `json:"delete"`
	Namespace *namespace      `json:"namespace"`
	Spec      spec            `json:"spec"`
	Sharding  *struct {
		Strategy           string      `json:"strategy"`
		ShardSpecOverrides []*override `json:"shardSpecOverrides"`
	} `json:"sharding"`

	raw json.RawMessage
}

// A spec says what an integration runs with.
type spec struct {
	render.Spec
	ShardingStrategy string `json:"shardingStrategy"` // of schemas without sharding
}

// strategy returns the name of the strategy by which the integration is divided, or "".
func (e entry) strategy() string {
	if e.Sharding == nil {
		return e.Spec.ShardingStrategy
	}
	return e.Sharding.Strategy
}

// An override is what an element of shardSpecOverrides changes.
type override struct {
	ImageRef  string            `json:"imageRef"`
	Disabled  bool              `json:"disabled"`
	Resources *render.Resources `json:"resources"`
}

// A namespace is where an entry runs.
type namespace struct {
	Path    string `json:"path"`
	Name    string `json:"name"`
	Cluster struct {
		Name string `json:"name"`
	} `json:"cluster"`
	Environment environment `json:"environment"`
}

// An environment has the parameters of all that runs in its namespaces.
type environment struct {
	Path       string          `json:"path"`
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// key returns the shard that a namespace is.
func (n namespace) key() string { return n.Cluster.Name + "/" + n.Name }

// upstream returns the caller of what a definition deploys.
func (d definition) upstream() string {
	if d.Upstream == nil {
		return ""
	}
	return *d.Upstream
}

// ask asks for the world.
func ask(ctx context.Context, query integration.QueryFunc, s ownSettings) (*world, error) {
	w := &world{}
	var err error
	if w.definitions, err = askDefinitions(ctx, query); err != nil {
		return nil, err
	}
	if err := w.askClusters(ctx, query); err != nil {
		return nil, err
	}
	if err := w.askSettings(ctx, query); err != nil {
		return nil, err
	}
	if w.objects, err = askObjects(ctx, query, w); err != nil {
		return nil, err
	}
	if s.Template != "" {
		w.template, err = askTemplate(ctx, query, s.Template)
	}
	return w, err
}

// askDefinitions asks for the definitions. One with a value of a wrong type has a mistake.
func askDefinitions(ctx context.Context, query integration.QueryFunc) ([]definition, error) {
	text, err := definitionQuery(ctx, query)
	if err != nil {
		return nil, err
	}
	raw, err := query(ctx, text, nil)
	mistakes := map[int]mistake{} // by position
	if partial := (*integration.AnswerError)(nil); errors.As(err, &partial) {
		var ok bool
		if mistakes, ok = mistakesIn(partial, "integrations"); !ok {
			return nil, fmt.Errorf("asking for the definitions: %w", err)
		}
		raw = partial.Data
	} else if err != nil {
		return nil, fmt.Errorf("asking for the definitions: %w", err)
	}
	var answer struct {
		Integrations []definition `json:"integrations"`
	}
	if err := integration.DecodeAnswer(raw, &answer); err != nil {
		return nil, fmt.Errorf("asking for the definitions: %w", err)
	}
	out := answer.Integrations
	for i := range out {
		out[i].mistake = mistakes[i]
		if err := out[i].readEntries(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b definition) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Path, b.Path))
	})
	return out, nil
}

// readEntries reads the elements of managed. Only a definition with a mistake may lack their
// namespaces.
func (d *definition) readEntries() error {
	for i, raw := range d.Managed {
		e := entry{raw: raw}
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("reading managed[%d] of %s: %w", i, d.Path, err)
		}
		n := e.Namespace
		if n != nil && (n.Name == "" || n.Cluster.Name == "" || n.Environment.Path == "") {
			e.Namespace = nil
		}
		if e.Namespace == nil && d.mistake == (mistake{}) {
			return fmt.Errorf("managed[%d] of %s has no namespace: %w", i, d.Path, integration.ErrNotWhole)
		}
		d.entries = append(d.entries, e)
	}
	return nil
}

// askObjects asks for the objects by which integrations are divided. Others are not asked for:
// they decide nothing.
func askObjects(ctx context.Context, query integration.QueryFunc, w *world) (sharding.Answers, error) {
	var used []settings.Strategy
	for _, s := range []settings.Strategy{settings.PerAWSAccount, settings.PerOpenShiftCluster,
		settings.PerOCMOrganization} {
		isUsed := func(e entry) bool { return e.strategy() == s.String() }
		if slices.ContainsFunc(w.definitions, func(d definition) bool { return slices.ContainsFunc(d.entries, isUsed) }) {
			used = append(used, s)
		}
	}
	return sharding.Ask(ctx, query, used...)
}

// askSettings asks how long abbreviated commits are.
func (w *world) askSettings(ctx context.Context, query integration.QueryFunc) error {
	answer, err := integration.Ask[struct {
		Settings []struct {
			HashLength int `json:"hashLength"`
		} `json:"settings"`
	}](ctx, query, settingsQuery, nil)
	if err != nil {
		return fmt.Errorf("asking for the settings of app-interface: %w", err)
	}
	if len(answer.Settings) == 1 {
		w.hashLength = answer.Settings[0].HashLength
	}
	return nil
}

// askTemplate asks for the text of a resource, which is nil if there is none.
func askTemplate(ctx context.Context, query integration.QueryFunc, path string) (*string, error) {
	answer, err := integration.Ask[struct {
		Resources []struct {
			Path    string `json:"path"`
			Content string `json:"content"`
		} `json:"resources"`
	}](ctx, query, resourceQuery, map[string]any{"path": path})
	if partial := (*integration.AnswerError)(nil); errors.As(err, &partial) &&
		slices.Equal(partial.Errors[0].Path, []any{"resources", 0.0}) {
		return nil, nil // so answers the server if there is no resource of this path
	}
	if err != nil {
		return nil, fmt.Errorf("asking for the template: %w", err)
	}
	for _, r := range answer.Resources {
		if r.Path == path {
			return &r.Content, nil
		}
	}
	return nil, nil
}
