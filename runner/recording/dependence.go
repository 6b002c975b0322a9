package recording

import (
	"slices"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/server"
	"github.com/app-sre/prcheck/state/dependence"
)

// noteDependence records on what an answer to a task depends.
func (r *Recording) noteDependence(task string, x server.Exchange) {
	if x.Response == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.depends[task] = r.depends[task].With(beyond(x.Response.Dependence))
}

// beyond converts what an answer depends on. It includes the schemas that are allowed.
func beyond(d gql.Dependence) dependence.Beyond {
	return dependence.Beyond{
		Schemas: texts(d.Schemas), Missing: texts(d.Missing), Resources: texts(d.Resources),
		Lists: d.ListsResources, Backrefs: d.Backrefs,
	}
}

func texts[T ~string](in []T) []string {
	var out []string
	for _, s := range in {
		out = append(out, string(s))
	}
	return out
}

// beyondAllowed lists what the answers to an integration depend on although its definition
// does not allow it.
func (r *Recording) beyondAllowed(tasks []plan.Task, d integration.Definition) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all dependence.Beyond
	for _, t := range tasks {
		if t.Integration == d.Name {
			all = all.With(r.depends[t.ID])
		}
	}
	out := slices.DeleteFunc(all.Schemas, func(s string) bool { return d.Allows(bundle.SchemaPath(s)) })
	if all.Backrefs {
		out = append(out, "backrefs of resources")
	}
	return out
}

// Dependences returns on what the answers to each task depend beyond the schemas that its
// definition allows. Tasks that did not run to their end, and tasks of integrations without
// a definition, are left out. A name that contains a secret is not returned: then the
// answers count as depending on anything.
func (r *Recording) Dependences(tasks []plan.Task, results []plan.Result, definitions []integration.Definition,
	at time.Time) []dependence.Run {
	byName := map[string]integration.Definition{}
	for _, d := range definitions {
		byName[d.Name] = d
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []dependence.Run
	for i, t := range tasks {
		d, defined := byName[t.Integration]
		if i >= len(results) || !defined || results[i].Attempts == 0 || len(r.attempts[t.ID]) == 0 {
			continue
		}
		b := r.depends[t.ID]
		b.Schemas = slices.DeleteFunc(slices.Clone(b.Schemas), func(s string) bool { return d.Allows(bundle.SchemaPath(s)) })
		for _, list := range []*[]string{&b.Schemas, &b.Missing, &b.Resources} {
			known := len(*list)
			*list = slices.DeleteFunc(slices.Clone(*list), func(name string) bool { return r.Mask(name) != name })
			b.Anything = b.Anything || len(*list) < known
		}
		out = append(out, dependence.Run{Task: t.ID, Integration: t.Integration, Command: t.Command, Passed: results[i].OK(),
			At: at, Beyond: b})
	}
	return out
}
