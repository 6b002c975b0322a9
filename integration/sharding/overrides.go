package sharding

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// An override is an element of shardSpecOverrides that leads to an object.
type override struct {
	at     int // its position
	name   string
	fields *bundle.Object
}

// overridesByName returns the overrides of objects by the names of the objects. If an
// object has several overrides, the last one counts.
func overridesByName(rule *bundle.Object, from Source) map[string]override {
	out := map[string]override{}
	for _, o := range readOverrides(rule, from) {
		if o.fields != nil {
			out[o.name] = o
		}
	}
	return out
}

// readOverrides returns the overrides in their order. One that leads to no object has no fields.
func readOverrides(rule *bundle.Object, from Source) []override {
	var out []override
	for i, v := range overrideList(rule) {
		o := override{at: i}
		if fields, ok := v.(*bundle.Object); ok {
			if of, ok := from.Follow(objectField(fields, "shard")); ok {
				o.name, o.fields = of.String("name"), fields
			}
		}
		out = append(out, o)
	}
	return out
}

func overrideList(rule *bundle.Object) []any {
	v, _ := rule.Get("shardSpecOverrides")
	list, _ := v.([]any)
	return list
}

// dividesShards reports whether an override asks to divide its shard.
func dividesShards(rule *bundle.Object) bool {
	return slices.ContainsFunc(overrideList(rule), func(v any) bool {
		o, ok := v.(*bundle.Object)
		return ok && objectField(o, "subSharding").String("strategy") != ""
	})
}

// An OverrideMistake says why an override has no effect, or not the one that it asks for.
type OverrideMistake struct {
	At      int // position in shardSpecOverrides
	Message string
}

// CheckOverrides returns what is wrong with the overrides of an element of managed that can be
// divided: those of objects that do not exist or are no shards, second ones for one object,
// and those that divide a shard that cannot be divided.
func CheckOverrides(name string, managed *bundle.Object, from Source) []OverrideMistake {
	rule := shardingOf(managed)
	s, r, ok := rowFor(rule.String("strategy"))
	if !ok || r.schema == "" {
		return nil
	}
	objects, err := from.Objects(s)
	if err != nil {
		return nil // Specs returns the error
	}
	isShard := map[string]bool{} // by the names of objects
	for _, o := range objects {
		isShard[o.Fields.String("name")] = r.cannotDisable || !disablesIntegration(o.Fields, name)
	}
	var out []OverrideMistake
	seen := map[string]int{}
	for _, o := range readOverrides(rule, from) {
		first, twice := seen[o.name]
		runs, exists := isShard[o.name]
		message := ""
		switch {
		case o.name == "":
			message = "it overrides an object that does not exist"
		case !exists:
			message = fmt.Sprintf("it overrides %q, which does not exist", o.name)
		case twice:
			message = fmt.Sprintf("it overrides %q, and so does override %d", o.name, first)
		case !runs:
			message = fmt.Sprintf("it overrides %q, which disables %s and is no shard", o.name, name)
		case !r.divisible && objectField(o.fields, "subSharding").String("strategy") != "":
			message = fmt.Sprintf("it divides %q, but shards of the strategy %s cannot be divided", o.name, s)
		}
		if !twice && exists {
			seen[o.name] = o.at
		}
		if message != "" {
			out = append(out, OverrideMistake{o.at, message})
		}
	}
	return out
}

// ReadManaged reads an element of managed from the answer of a query.
func ReadManaged(raw json.RawMessage) (*bundle.Object, error) {
	v, err := bundle.ParseValue(raw)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*bundle.Object)
	if !ok {
		return nil, errors.New("an element of managed is no object")
	}
	return o, nil
}
