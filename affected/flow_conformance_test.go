package affected

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A flowCase is a case of desired_state_diff_gate or runner_flow. A pointer
// that is nil was not given.
type flowCase struct {
	Area, Name string
	Input      struct {
		CheckShards       bool    `json:"check_only_affected_shards"`
		CompareSHA        *string `json:"early_exit_compare_sha"`
		Previous, Current any
		Selectors         []string
		DryRun            *bool                      `json:"dry_run"`
		Shards            map[string]json.RawMessage `json:"shard_results"`
		Diff              *struct {
			Found  bool  `json:"diff_found"`
			Shards []any `json:"affected_shards"`
		}
		ArgName      string `json:"shard_arg_name"`
		IsCollection bool   `json:"is_collection"` // one run with all shards
	}
	Expected struct {
		DiffObject   bool  `json:"diff_object"`
		CanExitEarly bool  `json:"can_exit_early"`
		Shards       []any `json:"affected_shards"`
		Run          string
		Runs         []any            `json:"shards"`
		Args         []map[string]any // of the runs: the settings say how a command gets its shard
		DryRun       bool             `json:"dry_run"`   // as every run of prcheck
		ExitCode     int              `json:"exit_code"` // package wrapper has it
	}
}

// statesOf returns a desired state that has a value for each of some shards, and for one that is the same on
// both sides.
func statesOf(shards []any, value string) any {
	list := []any{map[string]any{"k": "another", "value": "same"}}
	for _, shard := range shards {
		list = append(list, map[string]any{"k": shard, "value": value})
	}
	return map[string]any{"l": list}
}

// A stater tells one state for base and another for head, or an error.
type stater struct {
	states []any
	err    error
	asked  int
}

func (s *stater) desiredState(context.Context, integration.QueryFunc) (any, error) {
	s.asked++
	if s.err != nil {
		return nil, s.err
	}
	return s.states[s.asked-1], nil
}

// flow judges an integration with these desired states.
func flow(t *testing.T, s *stater, shards []string) plan.Conclusion {
	t.Helper()
	const text = `{"data":{"/a.yml":{"$schema":"/a-1.yml","name":"a"}},"resources":{},"graphql":[{"name":"A","fields":[{"name":"name","type":"string"}]},{"name":"Query","fields":[{"name":"a","type":"A","isList":true,"datafileSchema":"/a-1.yml"}]}]}`
	b, err := bundle.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	subject := Subject{State: s.desiredState}
	if shards != nil {
		subject.Shards = &settings.Shards{By: selectors(t, shards...)}
	}
	d := NewComparison(b, b, bundle.Compare(b, b), Options{}).Decide(t.Context(), subject, true)
	return d
}

// With equal states nothing runs, with different ones that no shard explains
// all of it does. The reference compares only when it is given something to
// compare with; we always have both bundles.
func TestDesiredStateGate(t *testing.T) {
	shared.Each(t, "desired_state_diff_gate", func(t *testing.T, c flowCase) {
		if c.Input.CompareSHA == nil {
			if c.Expected.DiffObject || c.Expected.CanExitEarly {
				t.Errorf("the reference decides without a bundle to compare with: %+v", c.Expected)
			}
			return
		}
		var by []string
		if c.Input.CheckShards {
			by = c.Input.Selectors
		}
		d := flow(t, &stater{states: []any{c.Input.Previous, c.Input.Current}}, by)
		if (d.Action == plan.Skip) != c.Expected.CanExitEarly {
			t.Errorf("got %+v, want skipped %v", d, c.Expected.CanExitEarly)
		}
		if len(c.Expected.Shards) == 0 && len(d.Evidence.Keys) > 0 {
			t.Errorf("got the shards %v, want none", d.Evidence.Keys)
		}
	})
}

// What the reference does with a difference, the plan does.
func TestRunnerFlow(t *testing.T) {
	shared.Each(t, "runner_flow", func(t *testing.T, c flowCase) {
		switch {
		case c.Input.Shards != nil:
			t.Skip("about what shards say; package wrapper has it")
		case c.Input.DryRun != nil && !*c.Input.DryRun:
			t.Skip("every run of prcheck is a dry-run; reconciling for real is none of its business")
		}
		s, by := &stater{err: errors.New("no state can be told")}, []string{"l[*].k"}
		if diff := c.Input.Diff; diff != nil {
			s = &stater{states: []any{"same", "same"}}
			if diff.Found {
				s = &stater{states: []any{"old", "new"}}
			}
			if len(diff.Shards) > 0 {
				s = &stater{states: []any{statesOf(diff.Shards, "old"), statesOf(diff.Shards, "new")}}
			}
		}
		want := map[string]plan.Action{"full": plan.Run, "none": plan.Skip, "sharded": plan.Shards}[c.Expected.Run]
		d := flow(t, s, by)
		if want == "" || d.Action != want {
			t.Errorf("got %+v, want %q for %q", d, want, c.Expected.Run)
		}
		if c.Input.IsCollection || len(c.Expected.Args) != len(c.Expected.Runs) {
			t.Errorf("the runs get the arguments %v, want one shard each", c.Expected.Args)
		}
		if got, want := fmt.Sprint(d.Evidence.Keys), fmt.Sprint(c.Expected.Runs); want != "[]" && got != want {
			t.Errorf("got the shards %s, want %s", got, want)
		}
	})
}
