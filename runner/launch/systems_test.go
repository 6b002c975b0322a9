package launch

import (
	"context"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// trying are systems with variables, and with clusters that try writes.
type trying struct{ nowhere }

func (trying) Trial(context.Context, integration.ClusterRef) (integration.ClusterTrial, error) {
	return nil, nil
}

func (trying) Variable(name string) (string, bool) { return "value of " + name, true }

// A task may ask clusters to try writes only if the settings say so.
func TestTrials(t *testing.T) {
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\nintegrations:\n  tries: {server_dry_run: true}\n  reads: {server_dry_run: false}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := runner{Equipment: Equipment{Settings: rules, Systems: func(string) Systems { return trying{} }}}
	for name, want := range map[string]bool{"tries": true, "reads": false, "unknown": false} {
		env := r.readable(plan.Task{Integration: name})
		if (env.Trial != nil) != want {
			t.Errorf("%s: a trial %t, want %t", name, env.Trial != nil, want)
		}
		if value, ok := env.Variable("A"); !ok || value != "value of A" {
			t.Errorf("%s: got %q", name, value)
		}
	}
	r.Systems = nil
	env := r.readable(plan.Task{Integration: "tries"})
	if _, err := env.Trial(t.Context(), integration.ClusterRef{}); err == nil {
		t.Error("a runner without systems has a cluster")
	}
	if value, ok := env.Variable("A"); ok {
		t.Errorf("a runner without systems has a variable %q", value)
	}
}
