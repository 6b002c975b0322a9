package planner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/settings"
)

// A counter is a native integration whose desired state are the groups of the size that its
// settings name.
type counter struct{ native }

func (counter) DesiredState(ctx context.Context, query integration.QueryFunc, it settings.Integration) (any, error) {
	state, err := sizes(ctx, query)
	if err != nil {
		return nil, err
	}
	own := struct{ Above float64 }{}
	if err := it.Own.Decode(&own); err != nil {
		return nil, err
	}
	var groups []any
	for _, g := range state.(map[string]any)["groups"].([]any) {
		if g.(map[string]any)["size"].(float64) > own.Above {
			groups = append(groups, g)
		}
	}
	return map[string]any{"for": it.Name, "groups": groups}, nil
}

func (counter) Shards() settings.Shards {
	by, err := settings.ParseSelector("groups[*].account")
	if err != nil {
		panic(err)
	}
	return settings.Shards{By: []settings.Selector{by}}
}

func (counter) CheckSettings(own settings.Own) error {
	return own.Decode(&struct{ Above float64 }{})
}

// counts are settings that bind "it" to the native counter.
func counts(more string) string {
	return "version: 1\nintegrations: {it: {native: counter" + more + "}}\n"
}

func givenCounter(in *planner.Input) {
	in.Natives = []integration.DryRunner{telling{"it", func(context.Context, integration.QueryFunc) (any, error) {
		return 1, nil
	}}, counter{"counter"}}
}

// A definition that is bound to a native of another name runs it, with its own settings.
func TestBoundNative(t *testing.T) {
	for _, tt := range []struct {
		name, settings string
		change         func(base, head *side)
		want           string
	}{
		{"one shard", counts(""), resize, "shards shards it/two"},
		{"the settings leave out what differs", counts(", settings: {above: 1000}"), resize, "skip state"},
		{"the settings leave it in", counts(", settings: {above: 0.5}"), resize, "shards shards it/two"},
		{"nothing that it reads", counts(""), email, "skip state"},
		{"the one of its own name is not asked", exec, resize, "skip state"},
		{"shards of the settings", counts(", shards: {by: ['groups[*].name']}"), resize, "shards shards it/ops"},
		{"approved deletions", counts(", deletes: {off: true, approved: [{key: x, until: 2026-01-31}]}, adopt: [x]"), resize,
			"shards shards it/two"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			tt.change(base, head)
			in := input(t, base, head, tt.settings)
			givenCounter(&in)
			p := made(t, in)
			d, _ := p.Decision("it")
			if got := brief(d); got != tt.want {
				t.Errorf("got %s: %s, want %s", got, d.Reason, tt.want)
			}
			for _, task := range p.Tasks {
				if !task.Native || len(task.Argv) > 0 || task.Blocked != "" || task.Integration != "it" {
					t.Errorf("got %+v", task)
				}
			}
			laws(t, in, p)
		})
	}
}

// boundMutants forget the native that is bound, or its settings.
func boundMutants() []mutant {
	const differs = "its desired state differs"
	return []mutant{
		{name: "a bound native state", settings: counts(""), change: resize, given: givenCounter, hide: unchanged,
			words: differs},
		{name: "the native that is bound", settings: counts(""), change: resize, given: givenCounter, rules: exec,
			words: differs},
		{name: "the settings of a native", settings: counts(", settings: {above: 0.5}"), change: resize, given: givenCounter,
			rules: counts(", settings: {above: 1000}"), words: differs},
		{name: "a bound native that another one is taken for", settings: counts(""), change: resize, given: givenCounter,
			forget: func(in *planner.Input) {
				in.Natives = []integration.DryRunner{telling{"counter", func(context.Context, integration.QueryFunc) (any, error) {
					return 1, nil
				}}}
			}, words: differs},
		{name: "a bound native that runs as a process", settings: counts(""), change: resize, given: givenCounter,
			edit: func(p *plan.Plan) { p.Tasks[0].Native, p.Tasks[0].Argv = false, []string{"true"} }, words: "started"},
	}
}

// What is wrong with the settings of natives is found before a plan is made.
func TestNativeSettings(t *testing.T) {
	for name, c := range map[string]struct{ settings, want string }{
		"no such native": {"version: 1\nintegrations:\n  it:\n    native: conter\n",
			`prcheck.yaml:4: integrations.it.native: this program has no native integration "conter" (did you mean "counter"?); it has counter, it`},
		"wrong settings": {counts(", settings: {abov: 1}"),
			`prcheck.yaml:2: integrations.it.settings: unknown key "abov" (did you mean "above"?)`},
		"nobody uses them": {exec + "integrations:\n  rest:\n    exec: {}\n    adopt: ['**']\n",
			`prcheck.yaml:6: integrations.rest.adopt: only a native integration uses this key, and "rest" is none; bind it to one with the key native`},
		"all right": {counts(", settings: {above: 1}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			base, head := world(), world()
			addRest(base)
			addRest(head)
			in := input(t, base, head, c.settings)
			givenCounter(&in)
			_, makeErr := planner.Make(t.Context(), in)
			for _, err := range []error{makeErr, planner.Check(in)} {
				got := ""
				if err != nil {
					got = err.Error()
				}
				if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}
