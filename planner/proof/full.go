package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// everyShard holds that a full run, divided into shards, has a task for each shard that one
// of the sides has.
func (o dossier) everyShard(ctx context.Context) string {
	covered := o.isCovered(ctx)
	isWhole := func(t plan.Task) bool { return t.Shard == "" } // or a static shard of it
	switch {
	case o.need.action != plan.Run && o.decision.Decision != plan.Run:
		return ""
	case slices.ContainsFunc(o.tasks(), isWhole), covered(o.Tasks.Task(o.name, "")):
		return ""
	case slices.ContainsFunc(o.Tasks.Divided(o.name), isWhole): // numbers, of which each has a trace or a result
		return ""
	}
	keys, why := o.shardKeys(ctx)
	if why != "" {
		return "there is no task for the whole of it, but " + why
	}
	for _, key := range keys {
		if !every(o.shard(key), covered) {
			return noTaskFor(o.Tasks.Task(o.name, key)) + "it must run in full"
		}
	}
	return ""
}

// shardKeys returns the keys of all shards of both sides, or why they are not known.
func (o dossier) shardKeys(ctx context.Context) (keys []string, why string) {
	shards := o.settings.Shards
	if o.state != nil {
		shards = o.state.shards
	}
	switch {
	case shards == nil:
		return nil, "it has no shards"
	case shards.Strategy != settings.StrategyNone:
		return o.keysByStrategy(shards.Strategy.String())
	case o.state == nil:
		return nil, "nothing tells its shards"
	}
	documents, doubt := o.wholeStates(ctx, *o.state)
	if doubt != "" {
		return nil, doubt
	}
	a := attribution{}
	for _, s := range shards.By {
		a.ways = append(a.ways, s.Steps)
	}
	for _, d := range documents {
		rebuild(d, a.ways, func(item any, ways []way) (any, bool) {
			if look(item, ways).shared {
				why = "an element has a key that cannot be used"
			}
			return item, true
		})
	}
	return sortedKeys(a.keys(documents)), why
}

// kinds lists the datafiles that are shards, by strategy.
var kinds = map[string]struct {
	schema, key string
	disable     bool // they can disable integrations
}{
	"per-aws-account":       {"/aws/account-1.yml", "name", true},
	"per-openshift-cluster": {"/openshift/cluster-1.yml", "name", true},
	"per-ocm-organization":  {"/openshift/openshift-cluster-manager-1.yml", "orgId", false},
}

// keysByStrategy returns the keys of the datafiles that are shards on one of the sides.
func (o dossier) keysByStrategy(strategy string) (keys []string, why string) {
	if strategy == settings.StrategyManaged.String() {
		strategy = o.deployedBy()
	}
	kind, ok := kinds[strategy]
	if !ok {
		return nil, fmt.Sprintf("the strategy %q has no shards", strategy)
	}
	found := map[string]bool{}
	for _, s := range []*side{o.prover.base, o.prover.head} {
		for _, f := range s.data {
			if text(f, "$schema") != kind.schema || kind.disable && disables(f, o.name) {
				continue
			}
			key, ok := keyBelow(f, way{{Name: kind.key}})
			if !ok {
				return nil, "a shard has a key that cannot be used"
			}
			found[key] = true
		}
	}
	return sortedKeys(found), ""
}

// deployedBy returns the one strategy by which the definition deploys the integration, or "".
func (o dossier) deployedBy() string {
	words := map[string]bool{}
	managed, _ := o.use.file["managed"].(list)
	for _, m := range managed {
		m, _ := m.(object)
		sharding, _ := m["sharding"].(object)
		words[text(sharding, "strategy")] = true
	}
	if len(words) != 1 {
		return ""
	}
	return sortedKeys(words)[0]
}

// disables tells whether a datafile disables an integration.
func disables(f object, name string) bool {
	disable, _ := f["disable"].(object)
	names, _ := disable["integrations"].(list)
	return slices.Contains(names, any(name))
}
