package sharding

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
)

// A Spec is one of the processes that an integration is deployed as, with its part
// of the work.
type Spec struct {
	Shards    string         // how many there are that share it by [Index]; "" when it is not shared so
	ID        string         // which of these it is, from 0; "" when it is not shared so
	Key       string         // the object that it is for, "" for all
	Suffix    string         // of its name
	ExtraArgs string         // what is added to its command
	Override  *bundle.Object // what is different for its object, nil when nothing is
	Disabled  bool           // it is written down, and has no replicas
}

// maxShards bounds a static division. A change could ask for any number.
const maxShards = 1000

// Specs returns the processes that one element of "managed" of an integration's
// definition asks for, by their keys. Options are those that its command knows.
func Specs(name string, options []string, managed *bundle.Object, b *bundle.Bundle) ([]Spec, error) {
	extra := object(managed, "spec").String("extraArgs")
	rule := object(managed, "sharding")
	strategy := rule.String("strategy")
	if strategy == "" || strategy == static {
		return divide(Spec{ExtraArgs: extra}, rule, strategy != "")
	}
	r, ok := named(strategy)
	if !ok {
		return nil, fmt.Errorf("%s: the sharding strategy %q is not known", name, strategy)
	}
	if !slices.Contains(options, r.option) {
		return nil, fmt.Errorf("%s has no option %s, which the sharding strategy %s needs", name, r.option, strategy)
	}
	objects, err := r.objects(name, b)
	if err != nil {
		return nil, err
	}
	overrides := overridesOf(rule, b)
	var specs []Spec
	for _, o := range objects {
		spec := Spec{Key: o.key, Suffix: "-" + o.key, ExtraArgs: extra + " " + r.option + " " + o.key, Override: overrides[o.name]}
		if r.lower {
			spec.Suffix = strings.ToLower(spec.Suffix)
		}
		parts, err := r.parts(spec)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, o.key, err)
		}
		specs = append(specs, parts...)
	}
	return specs, nil
}

// static is the strategy that shares out the work by [Index].
const static = "static"

// named finds the row of a strategy by its word.
func named(strategy string) (row, bool) {
	for s, r := range table {
		if s.String() == strategy {
			return r, true
		}
	}
	return row{}, false
}

// parts applies what is different for an object: some may divide its part further.
func (r row) parts(spec Spec) ([]Spec, error) {
	if spec.Override == nil {
		return []Spec{spec}, nil
	}
	disabled, _ := spec.Override.Get("disabled")
	spec.Disabled = disabled == true
	rule := object(spec.Override, "subSharding")
	switch strategy := rule.String("strategy"); {
	case !r.divided || strategy == "":
		return []Spec{spec}, nil
	case strategy != static:
		return nil, fmt.Errorf("the strategy %q cannot divide a shard", strategy)
	}
	return divide(spec, rule, true)
}

// divide makes of a part as many as a rule says, one without a rule. What divides
// a shard of an object is always numbered, what divides the whole is when there are
// several.
func divide(spec Spec, rule *bundle.Object, ruled bool) ([]Spec, error) {
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

// overridesOf returns what is different for objects, by their names. A later one
// replaces an earlier one.
func overridesOf(rule *bundle.Object, b *bundle.Bundle) map[string]*bundle.Object {
	v, _ := rule.Get("shardSpecOverrides")
	list, _ := v.([]any)
	out := map[string]*bundle.Object{}
	for _, v := range list {
		override, ok := v.(*bundle.Object)
		if !ok {
			continue
		}
		to := object(override, "shard").String("$ref")
		if f, ok := b.Datafile(bundle.Path(to)); ok {
			out[f.Object().String("name")] = override
		}
	}
	return out
}

// object returns the object in a field, an empty one when there is none.
func object(of *bundle.Object, field string) *bundle.Object {
	v, _ := of.Get(field)
	if o, ok := v.(*bundle.Object); ok {
		return o
	}
	return &bundle.Object{}
}
