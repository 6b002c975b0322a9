package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
)

// A part is what one task does of an integration; the zero value is all of it.
type part struct {
	shard  string        // "" for all
	static plan.Fraction // which of its static shards, zero for all of them
	image  string        // that its definition gives the shard, "" for the usual one
}

// A division is what a strategy makes of an integration. The parts are all of it.
type division struct {
	parts []part
	note  string // what is not divided although it could be, "" when nothing
	err   error  // why there are no parts
}

// fanOut returns the parts that a full run is split into, none when it must stay
// whole, and what there is to say about it.
func (m *maker) fanOut(ctx context.Context, o schemafilter.Outcome) ([]part, string) {
	shards := m.Settings.For(o.Name).Shards
	s, ok := m.subjects[o.Name]
	if ok {
		shards = s.Shards
	}
	if shards == nil || !shards.FanOut || o.Blocked != "" {
		return nil, ""
	}
	named := func(d integration.Definition) bool { return d.Name == o.Name+"-wrapper" }
	if slices.ContainsFunc(m.base, named) || slices.ContainsFunc(m.head, named) {
		return nil, fmt.Sprintf("not fanned out: there is an integration %q", o.Name+"-wrapper")
	}
	var d division
	switch {
	case shards.Strategy != integration.StrategyNone:
		d = m.division(o, shards.Strategy)
	case ok:
		keys, whole := m.world.ShardKeys(ctx, s)
		d = bounded(partsOf(keys))
		if !whole {
			d.err = errors.New("its shards are not known")
		}
	default:
		d.err = errors.New("its shards are not known")
	}
	switch {
	case d.err != nil:
		return nil, "not fanned out: " + d.err.Error()
	case len(d.parts) == 1 && d.parts[0] == part{}:
		return nil, d.note
	}
	return d.parts, d.note
}

// division divides an integration by a strategy, as its trusted definition deploys
// it.
func (m *maker) division(o schemafilter.Outcome, s integration.Strategy) division {
	d, known := m.divisions[o.Name]
	if !known {
		d = m.divide(o, s)
		m.divisions[o.Name] = d
	}
	return d
}

func (m *maker) divide(o schemafilter.Outcome, s integration.Strategy) division {
	s, err := m.strategy(o.Name, s)
	if err != nil {
		return division{err: err}
	}
	managed := o.Use.Managed()
	if m.fromHead(o) {
		managed = nil
	}
	all, err := sharding.ListParts(o.Name, s, managed, m.Base, m.Head)
	if err != nil {
		return division{err: err}
	}
	var parts []part
	note, numbered := "", m.numbered(o)
	for _, p := range all {
		if p.Static > 1 && !numbered {
			note, p.Static = "its static shards stay together, since exec does not hand over both {shards} and {shard_id}", 1
		}
		if p.Static == 1 {
			parts = append(parts, part{shard: p.Key, image: p.Image})
			continue
		}
		for i := range p.Static {
			parts = append(parts, part{p.Key, plan.Fraction{Part: i + 1, Of: p.Static}, p.Image})
		}
	}
	d := bounded(parts)
	d.note = note
	return d
}

// bounded is a division into these parts, unless they are too many or none.
func bounded(parts []part) division {
	switch {
	case len(parts) == 0:
		return division{err: errors.New("it has no shards")}
	case len(parts) > maxFanOut:
		return division{err: fmt.Errorf("that would be %d tasks, more than %d", len(parts), maxFanOut)}
	}
	return division{parts: parts}
}

// numbered tells whether a task learns which static shard it is.
func (m *maker) numbered(o schemafilter.Outcome) bool {
	_, native := m.natives[o.Name]
	return !native && m.started(o, m.Settings.For(o.Name).Exec, "", &plan.Task{}).PassesShardNumber()
}

// strategy is the one that an integration is divided by: that of its definition
// where the settings say so. The error says why there is none.
func (m *maker) strategy(name string, s integration.Strategy) (integration.Strategy, error) {
	if s != integration.StrategyManaged {
		return s, nil
	}
	s, err := sharding.DeclaredStrategy(definition(m.base, name))
	if err != nil {
		return s, err
	}
	if on, err := sharding.DeclaredStrategy(definition(m.head, name)); err != nil || on != s {
		return integration.StrategyNone, errors.New("base and head deploy it by different sharding strategies")
	}
	return s, nil
}

// definition finds a definition by name, an empty one when there is none.
func definition(in []integration.Definition, name string) integration.Definition {
	i := slices.IndexFunc(in, func(d integration.Definition) bool { return d.Name == name })
	if i < 0 {
		return integration.Definition{}
	}
	return in[i]
}

func partsOf(keys []string) []part {
	var out []part
	for _, k := range keys {
		out = append(out, part{shard: k})
	}
	return out
}

// only returns the parts of some shards: as their strategy divides them, if they
// come from one.
func (m *maker) only(o schemafilter.Outcome, keys []string) []part {
	var out []part
	for _, k := range keys {
		of := m.shard(o, k)
		if len(of) == 0 {
			of = partsOf([]string{k})
		}
		out = append(out, of...)
	}
	return out
}

// shard returns the parts of one shard, none when no strategy knows it.
func (m *maker) shard(o schemafilter.Outcome, key string) []part {
	shards := m.Settings.For(o.Name).Shards
	if shards == nil || shards.Strategy == integration.StrategyNone {
		return nil
	}
	all := slices.Clone(m.division(o, shards.Strategy).parts)
	return slices.DeleteFunc(all, func(p part) bool { return p.shard != key })
}

// shardsOf counts parts in words.
func shardsOf(parts []part) string {
	keys := map[string]bool{}
	for _, p := range parts {
		keys[p.shard] = true
	}
	switch {
	case keys[""]:
		return fmt.Sprintf("%d static shards", len(parts))
	case len(keys) < len(parts):
		return fmt.Sprintf("%d shards, in %d tasks", len(keys), len(parts))
	}
	return fmt.Sprintf("%d shards", len(parts))
}
