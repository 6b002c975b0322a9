package planner_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A native is an integration that tells nothing about itself.
type native string

func (n native) Name() string                                        { return string(n) }
func (native) DryRun(context.Context, integration.Environment) error { panic("a plan runs nothing") }

func (native) Run(context.Context, integration.Environment, integration.Actors) error {
	panic("a plan runs nothing")
}

// A telling one tells its desired state.
type telling struct {
	native
	state func(ctx context.Context, query integration.QueryFunc) (any, error)
}

func (n telling) DesiredState(ctx context.Context, query integration.QueryFunc, _ settings.Integration) (any, error) {
	return n.state(ctx, query)
}

// A sharded one tells its shards, too.
type sharded struct {
	telling
	shards settings.Shards
}

func (n sharded) Shards() settings.Shards { return n.shards }

// sizes is a desired state: groups with their account and size.
func sizes(ctx context.Context, query integration.QueryFunc) (any, error) {
	raw, err := query(ctx, `query q($p: String) { groups(path: $p) { name account size } }`, map[string]any{"p": nil})
	if err != nil {
		return nil, err
	}
	var state map[string]any
	return state, json.Unmarshal(raw, &state)
}

func TestNative(t *testing.T) {
	byAccount, err := settings.ParseSelector("groups[*].account")
	if err != nil {
		t.Fatal(err)
	}
	tell := func(state func(context.Context, integration.QueryFunc) (any, error)) telling {
		return telling{"it", state}
	}
	fixed := func(v any, err error) telling {
		return tell(func(context.Context, integration.QueryFunc) (any, error) { return v, err })
	}
	shards := func(more settings.Shards) sharded {
		more.By = []settings.Selector{byAccount}
		return sharded{tell(sizes), more}
	}
	two := func(base, head *side) { resize(base, head); head.at("/groups/dev.yml")["size"] = 2 }
	tests := []struct {
		name     string
		native   integration.DryRunner
		settings string
		change   func(base, head *side)
		want     string
		code     plan.Code
		words    string // in the reason
	}{
		{"tells nothing", native("it"), exec, rename, "run schema it", plan.CodeAllowedFileChanged, ""},
		{"same state", tell(sizes), exec, rename, "skip state", plan.CodeSameState, ""},
		{"other state", tell(sizes), exec, resize, "run state it", plan.CodeStateDiffers, ""},
		{"nothing it may read", tell(sizes), exec, elsewhere, "skip schema", plan.CodeNoAllowedFile, ""},
		{"always_run", tell(sizes), exec, both(func(s *side) { s.check()["always_run"] = true }, elsewhere),
			"run definition it", plan.CodeAlwaysRun, ""},
		{"panics", tell(func(context.Context, integration.QueryFunc) (any, error) { panic("oh no") }), exec, rename,
			"run state it", plan.CodeStateUnproven, "desired state on base: panic at planner_test.TestNative"},
		{"fails", fixed(nil, errors.New("no luck\nat all")), exec, rename, "run state it", plan.CodeStateUnproven,
			"desired state on base: no luck"},
		{"asks what is rejected", tell(func(ctx context.Context, query integration.QueryFunc) (any, error) {
			return query(ctx, "{ nope }", nil)
		}),
			exec, rename, "run state it", plan.CodeStateUnproven, `Cannot query field "nope"`},
		{"cannot be written down", fixed(func() {}, nil), exec, rename, "run state it", plan.CodeStateUnproven,
			"unsupported type"},
		{"nil", fixed(nil, nil), exec, rename, "skip state", plan.CodeSameState, ""},
		{"one shard", shards(settings.Shards{}), exec, resize, "shards shards it/two", plan.CodeShardsDiffer,
			`shard "two" only`},
		{"more than allowed", shards(settings.Shards{Max: 1}), exec, two, "run shards it", plan.CodeTooManyShards,
			"2 shards, more than the 1"},
		{"more than usual", shards(settings.Shards{}), exec, both(func(s *side) {
			crowd(s, 101, 1)
		}, func(_, head *side) { crowd(head, 101, 2) }),
			"run shards it", plan.CodeTooManyShards, "101 shards, more than the 100"},
		{"fan out", shards(settings.Shards{Max: 1, FanOut: true}), exec, two, "run shards it-wrapper/one it-wrapper/two",
			plan.CodeTooManyShards, "fanned out"},
		{"settings come first", shards(settings.Shards{}),
			exec + "integrations: {it: {shards: {by: ['groups[*].name'], arg: x}}}\n", resize,
			"shards shards it/ops", plan.CodeShardsDiffer, ""},
		{"queries come first", fixed(1, nil), asks("", "names.graphql"), rename, "run state it", plan.CodeStateDiffers, ""},
		{"not defined", native("that"), exec, rename, "run schema it", plan.CodeAllowedFileChanged, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			tt.change(base, head)
			in := input(t, base, head, tt.settings, tt.native)
			p := made(t, in)
			d, _ := p.Decision("it")
			if got := brief(d); got != tt.want || !because(d, tt.code, tt.words) {
				t.Errorf("got  %s: %s: %s\nwant %s: %s: … %s", got, d.Code, d.Reason, tt.want, tt.code, tt.words)
			}
			for _, task := range p.Tasks {
				isNative := tt.native.Name() == task.Integration
				if task.Native != isNative || isNative != slices.Equal(task.Argv, []string{}) || task.Blocked != "" {
					t.Errorf("got %+v", task)
				}
			}
			if len(p.Integrations) != 1 {
				t.Errorf("%d integrations", len(p.Integrations))
			}
			laws(t, in, p)
		})
	}
}
