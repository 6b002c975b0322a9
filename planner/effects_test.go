package planner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// announced are results that also remember effects, by the shard of the task.
type announced struct {
	results
	rules   string // the digest of the rules by which they were found
	effects map[string]*plan.Effects
}

func (a announced) LastEffects(_ context.Context, t plan.Task, within time.Duration,
	rules string) (*plan.Effects, time.Time) {
	if rules != a.rules || within < time.Hour {
		return nil, time.Time{}
	}
	return a.effects[t.Shard], noon.Add(-40 * time.Minute)
}

func (a announced) Effects(ctx context.Context, t plan.Task, began time.Time, rules string) (*plan.Effects, bool) {
	e, at := a.LastEffects(ctx, t, time.Hour, rules)
	return e, e != nil && at.Equal(began)
}

// Where somebody looks for effects, a task is left out only with the effects that it had.
func TestReuseWithEffects(t *testing.T) {
	const rules = "effects: {use: [terraform]}\n"
	deletes := &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: "user jane"}}}
	huge := &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: strings.Repeat("x", 200<<10)}}}
	resizeAll := func(s *side) { s.at("/groups/dev.yml")["size"], s.at("/groups/ops.yml")["size"] = 7, 7 }
	for name, c := range map[string]struct {
		settings, foundBy string
		effects           map[string]*plan.Effects
		want              string
	}{
		"with effects": {rules + byAccountEffects, rules,
			map[string]*plan.Effects{"one": deletes, "two": deletes}, "skip result: one 1, two 1"},
		"without": {rules + byAccountEffects, rules, map[string]*plan.Effects{"two": deletes},
			"shards shards it/one: two 1"},
		"by other rules": {rules + byAccountEffects, "effects: {use: [kubectl]}\n",
			map[string]*plan.Effects{"one": deletes, "two": deletes}, "shards shards it/one it/two: "},
		"too large for a plan": {rules + byAccountEffects, rules, map[string]*plan.Effects{"one": huge, "two": huge},
			"shards shards it/two: one 1"},
		"nobody looks": {byAccountEffects, rules, nil, "skip result: one -, two -"},
		"the integration has none": {rules + strings.Replace(byAccountEffects, "{it: {", "{it: {effects: none, ", 1), rules,
			nil, "skip result: one -, two -"},
	} {
		base, head := world(), world()
		resizeAll(head)
		in := input(t, base, head, exec+c.settings)
		in.Results = results{}
		passed := passing(made(t, in))
		in.Results = announced{passed,
			input(t, base, head, exec+c.foundBy+byAccountEffects).Settings.For("it").EffectsDigest(), c.effects}
		p := made(t, in)
		d, _ := p.Decision("it")
		var found []string
		for _, e := range d.Evidence.Passed {
			n := "-"
			if e.Effects != nil && e.Began.Equal(noon.Add(-40*time.Minute)) {
				n = strings.Repeat("1", len(e.Effects.Items))
			}
			found = append(found, e.Shard+" "+n)
		}
		if got := brief(d) + ": " + strings.Join(found, ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if gaps := verify(t, in, p); len(gaps) > 0 {
			t.Errorf("%s: got gaps %v", name, gaps)
		}
	}
}

const byAccountEffects = `integrations: {it: {queries: [roles.graphql], shards: {by: ["roles[*].groups[*].account"], arg: --account}}}` + "\n"
