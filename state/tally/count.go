package tally

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// CountRun returns, by integration, what one run adds: the decisions of the plan and the
// results of its tasks. Of a plan that runs in parts, only the first part counts decisions,
// because all parts have the same. Resumed reports whether an earlier run has counted the
// result of a task.
func CountRun(p *plan.Plan, rs *plan.Results, resumed func(task string) bool) map[string]Count {
	out := map[string]Count{}
	if rs.Part.Of < 2 || rs.Part.Part == 1 {
		for _, d := range p.Integrations {
			out[d.Name] = decision(d)
		}
	}
	changed := changedFields(p.Changes)
	for _, t := range p.Tasks {
		r, ok := rs.Result(t.ID)
		if !ok || r.Attempts == 0 || resumed(t.ID) {
			continue
		}
		count := result(r)
		if cause := needless(p, t, r, rs.Observed, changed); cause != "" {
			count.Needless = map[Cause]float64{cause: r.Seconds}
		}
		out[t.Integration] = out[t.Integration].Plus(count)
	}
	return out
}

// decision returns the count of one decision.
func decision(d plan.Decision) Count {
	c := Count{Reused: d.Evidence.Reused}
	at := map[plan.Rung]int{d.Rung: 1}
	switch d.Decision {
	case plan.Run:
		c.Run = at
	case plan.Shards:
		c.Shards = at
	case plan.Skip:
		c.Skip = at
	}
	if d.Believed {
		c.Believed = 1
	}
	return c
}

// result returns the count of one result.
func result(r plan.Result) Count {
	c := Count{Seconds: r.Seconds}
	if r.Baseline != nil {
		c.Seconds += r.Baseline.Seconds
	}
	switch {
	case r.OK():
		c.Passed = 1
	case r.OnBase():
		c.OnBase = 1
	case r.Status == plan.Failed:
		c.Failed = 1
	default:
		c.Other = 1
	}
	if r.OK() && len(r.Before) > 0 {
		c.Flaked = 1
	}
	if r.OK() && isQuiet(r.Effects) {
		c.Quiet = r.Seconds
	}
	return c
}

// isQuiet reports whether a dry run is known to announce no effect of the change.
func isQuiet(e *plan.Effects) bool {
	if e == nil || e.Unknown != "" || len(e.Beyond) > 0 {
		return false
	}
	return !slices.ContainsFunc(e.Items, func(i plan.Effect) bool { return i.Since != plan.SinceBase })
}

// needless returns why the run of a task that passed turned out to be needless, or "".
func needless(p *plan.Plan, t plan.Task, r plan.Result, observed []plan.Observed, changed fields) Cause {
	i := slices.IndexFunc(p.Integrations, func(d plan.Decision) bool { return d.Name == t.Integration })
	if i < 0 || !r.OK() {
		return ""
	}
	d := p.Integrations[i]
	if d.Decision == plan.Run && t.Shard == "" && (d.Rung == plan.RungState || d.Rung == plan.RungShards) {
		return ByShards
	}
	o := slices.IndexFunc(observed, func(o plan.Observed) bool { return o.Integration == t.Integration })
	if d.Rung != plan.RungSchema || changed == nil || o < 0 {
		return ""
	}
	switch {
	case !changed.anyOf(observed[o].Read):
		return BySchemas
	case !changed.anyRead(observed[o]):
		return ByQueries
	}
	return ""
}

// fields holds, by schema, the top-level fields of datafiles that changed. A schema with
// the field "" has a datafile that is new or removed, so that all its fields changed.
type fields map[string][]string

// changedFields returns the fields that changed, or nil if more than datafiles changed.
func changedFields(c plan.Changes) fields {
	if len(c.Resources)+len(c.Schemas)+len(c.GraphQL) > 0 {
		return nil
	}
	out := fields{}
	for _, f := range c.Datafiles {
		names := []string{""}
		if (f.Kind == plan.Modified || f.Kind == plan.Metadata) && f.OldSchema == "" && len(f.Fields) > 0 {
			names = nil
			for _, pointer := range f.Fields {
				name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
				names = append(names, name)
			}
		}
		for _, schema := range []string{f.Schema, f.OldSchema} {
			out[schema] = append(out[schema], names...)
		}
	}
	delete(out, "")
	return out
}

// anyOf reports whether a datafile of one of the schemas changed.
func (f fields) anyOf(schemas []string) bool {
	return slices.ContainsFunc(schemas, func(s string) bool { return f[s] != nil })
}

// anyRead reports whether an integration read a field that changed.
func (f fields) anyRead(o plan.Observed) bool {
	for schema, changed := range f {
		if slices.Contains(o.Read, schema) && slices.Contains(changed, "") {
			return true
		}
		for _, name := range o.Fields[schema] {
			if slices.Contains(changed, name) {
				return true
			}
		}
	}
	return false
}
