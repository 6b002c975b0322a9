package recording

import (
	"maps"
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/trace"
)

// Observed returns, for each integration whose tasks sent a query, the schemas and
// fields that were read and the allowed schemas that were not. The list is sorted by
// the integration's name.
func (r *Recording) Observed(tasks []plan.Task, definitions []integration.Definition) []plan.Observed {
	byName := map[string]*plan.Observed{}
	for _, t := range tasks {
		last := r.LastTrace(t, time.Time{})
		if last == nil || len(last.Requests) == 0 {
			continue
		}
		o := byName[t.Integration]
		if o == nil {
			o = &plan.Observed{Integration: t.Integration, Read: []string{}, Unread: []string{}, Partial: true}
			byName[t.Integration] = o
		}
		addTrace(o, last)
		o.Partial = o.Partial && t.Label() != ""
	}
	for _, d := range definitions {
		if o := byName[d.Name]; o != nil {
			o.Unread = unreadSchemas(d, o.Read)
			o.Beyond = r.beyondAllowed(tasks, d)
		}
	}
	out := make([]plan.Observed, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, *byName[name])
	}
	return out
}

// addTrace adds the schemas and fields that one task read.
func addTrace(o *plan.Observed, t *trace.Trace) {
	for _, s := range t.Schemas {
		o.Read = append(o.Read, string(s))
	}
	slices.Sort(o.Read)
	o.Read = slices.Compact(o.Read)
	for schema, fields := range t.Fields {
		if o.Fields == nil {
			o.Fields = map[string][]string{}
		}
		list := slices.Concat(o.Fields[string(schema)], fields)
		slices.Sort(list)
		o.Fields[string(schema)] = slices.Compact(list)
	}
}

// unreadSchemas returns the schemas that a definition allows and that were not read.
// Schemas that every definition must allow are left out.
func unreadSchemas(d integration.Definition, read []string) []string {
	out := []string{}
	for _, s := range d.Schemas {
		if !slices.Contains(read, string(s)) && !slices.Contains(integration.RequiredSchemas(), s) {
			out = append(out, string(s))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
