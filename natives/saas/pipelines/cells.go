package pipelines

import (
	"context"
	"fmt"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/decide"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/natives/saas/pipelines/loop"
	"github.com/app-sre/prcheck/plan"
)

// A scene is the cells that the loop works on, with what is behind them.
type scene struct {
	files []loop.RunnableFile
	cells map[string]saas.Cell // by key
	order []string             // keys
}

// newScene returns the saas files with their cells, for the loop.
func (n native) newScene(a *asker, files []*saas.File, cells []saas.Cell, run executor.Executor) *scene {
	out := &scene{cells: map[string]saas.Cell{}}
	by := map[*saas.File][]saas.Cell{}
	for _, c := range cells {
		by[c.File] = append(by[c.File], c)
		out.cells[c.Key()] = c
		out.order = append(out.order, c.Key())
	}
	whole := newWholeness(a.model)
	for _, f := range files {
		file := loop.RunnableFile{Name: f.Name, Named: map[string]bool{}, Environments: map[string]bool{},
			Partial: whole.isShared || whole.wrong[f.Path]}
		for _, t := range f.Templates {
			for _, target := range t.Targets {
				file.Named[target.UID()] = true
				file.Environments[target.Env()] = true
			}
		}
		for _, c := range by[f] {
			file.Cells = append(file.Cells, a.cell(c, run))
		}
		out.files = append(out.files, file)
	}
	return out
}

// cell returns a cell for the loop.
func (a *asker) cell(c saas.Cell, run executor.Executor) loop.RunnableCell {
	out := loop.RunnableCell{Environment: c.Environment, Executor: run, Order: a.place(c)}
	out.Key, out.Deprecated, out.Mistake = c.Key(), c.File.Deprecated, a.mistake(c)
	if c.File.Broken != "" || c.File.Provider.Namespace.Cluster == nil {
		out.Executor = nil
	}
	var kept []*saas.Target
	for _, t := range c.Targets {
		target, err := a.target(t)
		if err != nil {
			out.Mistake = fmt.Sprintf("%s: %v", t.Label(), err)
			continue
		}
		out.Targets = append(out.Targets, target)
		kept = append(kept, t)
	}
	with := out.Targets
	out.Look = func(ctx context.Context, applied map[string]decide.Applied) []decide.WatchedTarget {
		seen := make([]decide.WatchedTarget, len(kept))
		for i, t := range kept {
			seen[i] = with[i]
			seen[i].Signals = append(seen[i].Signals[:1:1], a.look(ctx, t, applied[seen[i].UID].Values)...)
		}
		return seen
	}
	return out
}

// place returns where a cell runs.
func (a *asker) place(c saas.Cell) executor.Order {
	p := c.File.Provider
	out := executor.Order{File: c.File.Name, Environment: c.Environment, Template: p.Template, Timeout: c.File.Timeout}
	if cluster := p.Namespace.Cluster; cluster != nil {
		out.Place = executor.Place{Cluster: cluster.Ref, Namespace: p.Namespace.Name}
		out.ConsoleURL = cluster.ConsoleURL
	}
	return out
}

// mistake returns why the data of a cell allow no run, "" if they do.
func (a *asker) mistake(c saas.Cell) string {
	f := c.File
	if f.Broken != "" {
		return f.Broken
	}
	for _, t := range c.Targets {
		if t.Broken != "" {
			return t.Label() + ": " + t.Broken
		}
	}
	if err := executor.CheckTimeout(f.Timeout); err != nil {
		return err.Error()
	}
	if cluster := f.Provider.Namespace.Cluster; cluster == nil {
		return "the provider of pipelines has no namespace"
	} else if cluster.Problem != "" {
		return fmt.Sprintf("the cluster %s of the pipelines: %s", cluster.Name, cluster.Problem)
	}
	if a.settings.Executor == jobs {
		return ""
	}
	if f.Provider.Kind != "tekton" {
		return fmt.Sprintf("the provider of pipelines %s is %q, which is not known; it may be tekton", f.Provider.Name,
			f.Provider.Kind)
	}
	if _, err := executor.Pipeline(f.Provider.Template, f.Name); err != nil {
		return err.Error()
	}
	return ""
}

// A wholeness says of which saas files the data may name more than the model has, because of
// mistakes.
type wholeness struct {
	wrong    map[string]bool // saas files with mistakes, by path
	isShared bool            // a datafile that many saas files may use has mistakes, or may be one itself
}

// newWholeness looks at the mistakes in the data.
func newWholeness(m *saas.Model) wholeness {
	out := wholeness{wrong: map[string]bool{}}
	known := map[string]bool{}
	for _, f := range m.Files {
		known[f.Path] = true
		out.wrong[f.Path] = f.Broken != ""
	}
	for _, found := range m.Findings {
		if found.Severity != plan.SeverityError {
			continue
		}
		out.wrong[found.File] = true
		out.isShared = out.isShared || !known[found.File]
	}
	return out
}
