package planner

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// maxFanOut bounds how many tasks a full run may become.
const maxFanOut = 500

// A part is the share of an integration that one task does. The zero value is the
// whole integration.
type part struct {
	shard  string        // "" for all shards
	static plan.Fraction // which of the static shards; zero for all of them
	image  string        // that the definition gives the shard; "" for the usual image
}

// work lists the parts of an integration that must run. Each part becomes a task.
type work struct {
	prefix  string // of the ids of the tasks
	parts   []part
	remarks []plan.Reason // about the division
}

// A divider divides integrations into parts.
type divider struct {
	settings   *settings.Settings
	base, head *bundle.Bundle
	comparison *affected.Comparison
	subjects   map[string]affected.Subject
	tasks      *taskBuilder
	names      map[string]bool     // of all integrations
	known      map[string]division // by integration, as far as they were asked for
}

// A division is an integration divided by a strategy. Its parts together are the
// whole integration.
type division struct {
	parts   []part
	remark  plan.Reason // about shards that stay together; zero when none do
	refused plan.Reason // why there are no parts; zero when there are
}

// divide returns the work that a conclusion leaves.
func (d *divider) divide(ctx context.Context, o schemafilter.Outcome, c plan.Conclusion) work {
	switch c.Action {
	case plan.Skip:
		return work{}
	case plan.Shards:
		return work{prefix: taskName(o.Name), parts: d.shards(o, c.Evidence.Keys)}
	}
	return d.fullRun(ctx, o)
}

// fullRun returns the work of a full run: one part for each known shard if the
// settings ask for it, and otherwise the whole integration.
func (d *divider) fullRun(ctx context.Context, o schemafilter.Outcome) work {
	w := work{prefix: taskName(o.Name), parts: []part{{}}}
	all, ok := d.fanOut(ctx, o)
	switch {
	case !ok:
		return w
	case all.refused.Code != "":
		w.remarks = []plan.Reason{all.refused}
		return w
	case len(all.parts) != 1 || all.parts[0] != part{}:
		w = work{prefix: w.prefix + "-wrapper", parts: all.parts, remarks: []plan.Reason{fannedOut(all.parts)}}
	}
	if all.remark.Code != "" {
		w.remarks = append(w.remarks, all.remark)
	}
	return w
}

// fanOut returns the division of a full run. It returns false when the settings do
// not ask for one, or when the integration cannot be started.
func (d *divider) fanOut(ctx context.Context, o schemafilter.Outcome) (division, bool) {
	shards := d.settings.For(o.Name).Shards
	subject, ok := d.subjects[o.Name]
	if ok {
		shards = subject.Shards
	}
	wrapper := o.Name + "-wrapper"
	switch {
	case shards == nil || !shards.FanOut || o.Blocked.Code != "":
		return division{}, false
	case d.names[wrapper]:
		return division{refused: plan.Reason{Code: plan.CodeWrapperExists, Names: []string{wrapper}}}, true
	case shards.Strategy != settings.StrategyNone:
		return d.byStrategy(o, shards.Strategy), true
	}
	if ok {
		if keys, whole := d.comparison.ShardKeys(ctx, subject); whole {
			return divided(partsOf(keys)), true
		}
	}
	return division{refused: plan.Reason{Code: plan.CodeShardsUnknown}}, true
}

// byStrategy divides an integration by a strategy, as its trusted definition deploys
// it.
func (d *divider) byStrategy(o schemafilter.Outcome, s settings.Strategy) division {
	known, ok := d.known[o.Name]
	if !ok {
		known = d.deployed(o, s)
		d.known[o.Name] = known
	}
	return known
}

// deployed computes the division by a strategy.
func (d *divider) deployed(o schemafilter.Outcome, s settings.Strategy) division {
	s, refused := strategyOf(o, s)
	if refused.Code != "" {
		return division{refused: refused}
	}
	managed := o.Use.Managed()
	if o.FromHead() {
		managed = nil
	}
	all, err := sharding.ListParts(o.Name, s, managed, sharding.InBundle(d.base), sharding.InBundle(d.head))
	if err != nil {
		return division{refused: plan.Reason{Code: plan.CodeIndivisible, Text: err.Error()}}
	}
	var parts []part
	var remark plan.Reason
	numbered := !d.tasks.isNative(o.Name) && d.tasks.start(o, "").exec.PassesShardNumber()
	for _, p := range all {
		if p.Static > 1 && !numbered {
			remark, p.Static = plan.Reason{Code: plan.CodeStaticTogether}, 1
		}
		if p.Static == 1 {
			parts = append(parts, part{shard: p.Key, image: p.Image})
			continue
		}
		for i := range p.Static {
			parts = append(parts, part{p.Key, plan.Fraction{Part: i + 1, Of: p.Static}, p.Image})
		}
	}
	out := divided(parts)
	out.remark = remark
	return out
}

// divided returns the division into these parts, unless there are none or too many.
func divided(parts []part) division {
	switch {
	case len(parts) == 0:
		return division{refused: plan.Reason{Code: plan.CodeNoShards}}
	case len(parts) > maxFanOut:
		return division{refused: plan.Reason{Code: plan.CodeTooManyTasks, Count: len(parts), Of: maxFanOut}}
	}
	return division{parts: parts}
}

// strategyOf returns the strategy that an integration is divided by: s, or that of
// its definition where the settings say so. The reason says why there is none.
func strategyOf(o schemafilter.Outcome, s settings.Strategy) (settings.Strategy, plan.Reason) {
	if s != settings.StrategyManaged {
		return s, plan.Reason{}
	}
	s, err := declaredStrategy(o.Base)
	if err != nil {
		return s, plan.Reason{Code: plan.CodeIndivisible, Text: err.Error()}
	}
	if onHead, err := declaredStrategy(o.Head); err != nil || onHead != s {
		return settings.StrategyNone, plan.Reason{Code: plan.CodeStrategiesDiffer}
	}
	return s, plan.Reason{}
}

// declaredStrategy returns the strategy that a definition names. A side that does
// not define the integration has an empty definition.
func declaredStrategy(d *integration.Definition) (settings.Strategy, error) {
	if d == nil {
		d = &integration.Definition{}
	}
	return sharding.DeclaredStrategy(d.Managed())
}

// partsOf returns one part for each shard.
func partsOf(keys []string) []part {
	var out []part
	for _, k := range keys {
		out = append(out, part{shard: k})
	}
	return out
}

// shards returns the parts of some shards. A shard that comes from a strategy has
// the parts of its division.
func (d *divider) shards(o schemafilter.Outcome, keys []string) []part {
	var out []part
	for _, k := range keys {
		parts := d.shard(o, k)
		if len(parts) == 0 {
			parts = partsOf([]string{k})
		}
		out = append(out, parts...)
	}
	return out
}

// shard returns the parts of one shard; none when no strategy knows the shard.
func (d *divider) shard(o schemafilter.Outcome, key string) []part {
	shards := d.settings.For(o.Name).Shards
	if shards == nil || shards.Strategy == settings.StrategyNone {
		return nil
	}
	all := slices.Clone(d.byStrategy(o, shards.Strategy).parts)
	return slices.DeleteFunc(all, func(p part) bool { return p.shard != key })
}

// withImage returns a part with the image that the definition gives its shard.
func (d *divider) withImage(o schemafilter.Outcome, p part) part {
	for _, of := range d.shard(o, p.shard) {
		p.image = of.image
	}
	return p
}

// fannedOut returns the remark about a full run that is divided into parts.
func fannedOut(parts []part) plan.Reason {
	shards := map[string]bool{}
	for _, p := range parts {
		shards[p.shard] = true
	}
	switch {
	case shards[""]:
		return plan.Reason{Code: plan.CodeFannedOutStatic, Count: len(parts)}
	case len(shards) < len(parts):
		return plan.Reason{Code: plan.CodeFannedOutTasks, Count: len(shards), Of: len(parts)}
	}
	return plan.Reason{Code: plan.CodeFannedOut, Count: len(parts)}
}
