package settings

import (
	"reflect"
	"slices"
)

// DifferingKeys returns the keys whose values for one integration differ between two
// settings, in the order of the documentation. It compares the values that hold for the
// integration in the end. So a value that moves from the general part to the integration
// is no difference. Line numbers are not compared.
func (s *Settings) DifferingKeys(other *Settings, name string) []string {
	a, b := s.For(name), other.For(name)
	var out []string
	for _, part := range []struct {
		key  string
		a, b any
	}{
		{"checkout", s.Checkout(), other.Checkout()},
		{"definition_schema", s.DefinitionSchema(), other.DefinitionSchema()},
		{"exec", a.Exec, b.Exec},
		{"paths.ignore", globPatterns(s.Ignore), globPatterns(other.Ignore)},
		{"paths.select", s.selectPatterns(name), other.selectPatterns(name)},
		{"queries", queryPaths(a), queryPaths(b)},
		{"resources", a.Resources.withoutLines(), b.Resources.withoutLines()},
		{"schemas", a.Strict, b.Strict},
		{"transient", transientPatterns(a), transientPatterns(b)},
		{"baseline", a.NoBaseline, b.NoBaseline},
		{"max_baseline_seconds", s.Baseline(), other.Baseline()},
		{"limits", limitsWithoutLines(a), limitsWithoutLines(b)},
		{"reuse", a.Reuse, b.Reuse},
		{"state", s.state, other.state},
		{"secrets", s.secrets.withoutLine(), other.secrets.withoutLine()},
		{"programs", a.Programs.patterns(), b.Programs.patterns()},
		{"reads", a.Reads, b.Reads},
		{"environment", s.worlds.environment, other.worlds.environment},
		{"prepare", s.worlds.prepare, other.worlds.prepare},
		{"effects", []any{effectRuleTexts(a.Effects), s.EffectPolicy()},
			[]any{effectRuleTexts(b.Effects), other.EffectPolicy()}},
		{"audit", s.distrust, other.distrust},
		{"list_order", []any{a.ListOrder, a.ListOrderSet}, []any{b.ListOrder, b.ListOrderSet}},
		{"shards", a.Shards.withoutLines(), b.Shards.withoutLines()},
		{"trace", a.Trace, b.Trace},
		{"native", a.Native, b.Native},
		{"settings", a.Own.value(), b.Own.value()},
		{"deletes", a.Deletes.withoutLines(), b.Deletes.withoutLines()},
		{"adopt", a.Adopt, b.Adopt},
		{"take_over", a.TakeOver, b.TakeOver},
		{"take_over_from", a.TakeOverFrom, b.TakeOverFrom},
		{"server_dry_run", a.ServerDryRun, b.ServerDryRun},
		{"trust", s.trustKeys(), other.trustKeys()},
	} {
		if !reflect.DeepEqual(part.a, part.b) {
			out = append(out, part.key)
		}
	}
	return out
}

// globPatterns returns the patterns of globs without their lines.
func globPatterns(globs []Glob) []string {
	var out []string
	for _, g := range globs {
		out = append(out, g.Pattern)
	}
	return out
}

// selectPatterns returns the patterns of each rule in paths.select that runs an
// integration.
func (s *Settings) selectPatterns(name string) [][]string {
	var out [][]string
	for _, r := range s.Rules {
		if r.Runs(name) {
			out = append(out, globPatterns(r.When))
		}
	}
	return out
}

// transientPatterns returns the texts of the transient patterns.
func transientPatterns(it Integration) []string {
	var out []string
	for _, e := range it.Transient {
		out = append(out, e.String())
	}
	return out
}

// queryPaths returns the paths of the query files.
func queryPaths(it Integration) []string {
	var out []string
	for _, q := range it.Queries {
		out = append(out, q.Path)
	}
	return out
}

// limitsWithoutLines returns copies of the limits without their lines.
func limitsWithoutLines(it Integration) []Limit {
	out := slices.Clone(it.Limits)
	for i := range out {
		out[i].Line = 0
	}
	return out
}

// withoutLines returns a copy without lines, nil for nil.
func (s *Shards) withoutLines() *Shards {
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

// withoutLines returns a copy without lines.
func (d Deletes) withoutLines() Deletes {
	d.Approved = slices.Clone(d.Approved)
	for i := range d.Approved {
		d.Approved[i].Line = 0
	}
	return d
}

// trustKeys returns the values of the key trust, for a comparison.
func (s *Settings) trustKeys() any {
	return []any{s.TrustNewIntegrations, s.worlds.newCommands, globPatterns(s.ciFiles)}
}
