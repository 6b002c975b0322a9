package sharding

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A Spec describes one process of an integration as it is deployed.
type Spec struct {
	Shards    string         // the number of static shards; "" if there are none
	ID        string         // the number of this static shard, from 0; "" if there are none
	Key       string         // the key of its object; "" means all objects
	Suffix    string         // the end of its name
	ExtraArgs string         // arguments that are added to its command
	Override  *bundle.Object // the override for its object, nil if there is none
	// OverrideAt is the position of the override in shardSpecOverrides, if there is one.
	OverrideAt int
	Disabled   bool // whether it is deployed without replicas
}

// maxShards is the maximal number of static shards. A change could ask for any number.
const maxShards = 1000

// Specs returns the processes that one element of managed deploys, sorted by key. Options
// are the options that the command of the integration has.
func Specs(name string, options []string, managed *bundle.Object, from Source) ([]Spec, error) {
	extra := objectField(managed, "spec").String("extraArgs")
	rule := shardingOf(managed)
	strategy := rule.String("strategy")
	if strategy == "" || strategy == staticStrategy {
		if dividesShards(rule) {
			return nil, fmt.Errorf("%s: static shards cannot be divided by subSharding; only shards by key can", name)
		}
		return divideSpec(Spec{ExtraArgs: extra}, rule, strategy != "")
	}
	s, r, ok := rowFor(strategy)
	if !ok {
		return nil, fmt.Errorf("%s: the sharding strategy %q is not known", name, strategy)
	}
	if !slices.Contains(options, r.option) {
		return nil, fmt.Errorf("%s has no option %s, which the sharding strategy %s needs", name, r.option, strategy)
	}
	objects, err := from.Objects(s)
	if err != nil {
		return nil, err
	}
	shards, err := r.listShards(name, objects)
	if err != nil {
		return nil, err
	}
	overrides := overridesByName(rule, from)
	var specs []Spec
	for _, o := range shards {
		spec := Spec{Key: o.key, Suffix: "-" + o.key, ExtraArgs: extra + " " + r.option + " " + o.key}
		if found, ok := overrides[o.name]; ok {
			spec.Override, spec.OverrideAt = found.fields, found.at
		}
		if r.lowerCaseNames {
			spec.Suffix = strings.ToLower(spec.Suffix)
		}
		parts, err := r.applyOverride(spec)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, o.key, err)
		}
		specs = append(specs, parts...)
	}
	return specs, nil
}

// shardingOf returns the sharding of an element of managed. Before there was a field of this
// name, spec.shardingStrategy named the strategy; it is read as the strategy of today.
func shardingOf(managed *bundle.Object) *bundle.Object {
	now, _ := managed.Get("sharding")
	if old := objectField(managed, "spec").String("shardingStrategy"); old != "" && now == nil {
		return bundle.NewObject(bundle.Member{Key: "strategy", Value: old})
	}
	return objectField(managed, "sharding")
}

// staticStrategy is the name of the strategy that divides the work by [Index].
const staticStrategy = "static"

// rowFor returns a strategy with its row by its name.
func rowFor(strategy string) (settings.Strategy, strategyRow, bool) {
	for s, r := range strategyTable {
		if s.String() == strategy {
			return s, r, true
		}
	}
	return settings.StrategyNone, strategyRow{}, false
}

// applyOverride applies the override of an object to its process. The override may divide
// the process into several static shards.
func (r strategyRow) applyOverride(spec Spec) ([]Spec, error) {
	if spec.Override == nil {
		return []Spec{spec}, nil
	}
	disabled, _ := spec.Override.Get("disabled")
	spec.Disabled = disabled == true
	rule := objectField(spec.Override, "subSharding")
	switch strategy := rule.String("strategy"); {
	case !r.divisible || strategy == "":
		return []Spec{spec}, nil
	case strategy != staticStrategy:
		return nil, fmt.Errorf("the strategy %q cannot divide a shard", strategy)
	}
	return divideSpec(spec, rule, true)
}

// divideSpec divides a process into the number of static shards that rule asks for, or
// into one if ruled is false. The name of a static shard ends with its number, except for
// the only shard of a process without a key.
func divideSpec(spec Spec, rule *bundle.Object, ruled bool) ([]Spec, error) {
	n := 1
	if ruled {
		v, _ := rule.Get("shards")
		var err error
		if n, err = strconv.Atoi(fmt.Sprint(v)); err != nil || n < 1 || n > maxShards {
			return nil, fmt.Errorf("the number of shards must be from 1 to %d", maxShards)
		}
	}
	specs := make([]Spec, n)
	for i := range specs {
		specs[i] = spec
		specs[i].Shards, specs[i].ID = strconv.Itoa(n), strconv.Itoa(i)
		if n > 1 || spec.Key != "" {
			specs[i].Suffix += "-" + specs[i].ID
		}
	}
	return specs, nil
}

// objectField returns the object in a field, or an empty object if there is none.
func objectField(of *bundle.Object, field string) *bundle.Object {
	v, _ := of.Get(field)
	if o, ok := v.(*bundle.Object); ok {
		return o
	}
	return &bundle.Object{}
}
