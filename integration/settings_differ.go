package integration

import (
	"reflect"
	"slices"
)

// Differ lists the keys in which other settings say something else about one
// integration than these, in the order of the documentation: general ones that
// concern every integration, and what holds for this one in the end, wherever it
// is said. Lines do not count.
func (s *Settings) Differ(other *Settings, name string) []string {
	a, b := s.For(name), other.For(name)
	var out []string
	for _, part := range []struct {
		key  string
		a, b any
	}{
		{"checkout", s.Checkout(), other.Checkout()},
		{"exec", a.Exec, b.Exec},
		{"paths.ignore", patterns(s.Ignore), patterns(other.Ignore)},
		{"paths.select", s.selecting(name), other.selecting(name)},
		{"queries", queryPaths(a), queryPaths(b)},
		{"transient", expressions(a), expressions(b)},
		{"max_baseline_seconds", s.Baseline(), other.Baseline()},
		{"limits", unplacedLimits(a), unplacedLimits(b)},
		{"reuse", a.Reuse, b.Reuse},
		{"list_order", []any{a.ListOrder, a.Ordered}, []any{b.ListOrder, b.Ordered}},
		{"shards", a.Shards.unplaced(), b.Shards.unplaced()},
		{"trace", a.Trace, b.Trace},
		{"trust", s.trust(), other.trust()},
	} {
		if !reflect.DeepEqual(part.a, part.b) {
			out = append(out, part.key)
		}
	}
	return out
}

func patterns(globs []Glob) []string {
	var out []string
	for _, g := range globs {
		out = append(out, g.Pattern)
	}
	return out
}

// selecting are the patterns of each paths rule that names an integration.
func (s *Settings) selecting(name string) [][]string {
	var out [][]string
	for _, r := range s.Rules {
		if r.Runs(name) {
			out = append(out, patterns(r.When))
		}
	}
	return out
}

func expressions(it Integration) []string {
	var out []string
	for _, e := range it.Transient {
		out = append(out, e.String())
	}
	return out
}

func queryPaths(it Integration) []string {
	var out []string
	for _, q := range it.Queries {
		out = append(out, q.Path)
	}
	return out
}

// unplacedLimits are copies without lines.
func unplacedLimits(it Integration) []Limit {
	out := slices.Clone(it.Limits)
	for i := range out {
		out[i].Line = 0
	}
	return out
}

// unplaced is a copy without lines, nil for none.
func (s *Shards) unplaced() *Shards {
	if s == nil {
		return nil
	}
	out := *s
	out.Line, out.By = 0, slices.Clone(s.By)
	for i := range out.By {
		out.By[i].Line = 0
	}
	return &out
}

func (s *Settings) trust() any { return []any{s.NewIntegrations, patterns(s.ciFiles)} }

// defaultCIFiles hold where the settings say nothing.
var defaultCIFiles = []Glob{{Pattern: ".gitlab-ci.yml"}, {Pattern: ".gitlab-ci.yaml"}, {Pattern: ".gitlab/**"}, {Pattern: "**/*.gitlab-ci.{yml,yaml}"}}

// StartsChecks reports whether a path of the repository is one of the files that
// decide whether, and how, the checks of a change are started at all.
func (s *Settings) StartsChecks(path string) bool {
	globs := s.ciFiles
	if globs == nil {
		globs = defaultCIFiles
	}
	return slices.ContainsFunc(globs, func(g Glob) bool { return g.Match(path) })
}
