package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/planner"
)

// A command that head brings runs beside base's, if base trusts such commands. A plan without it,
// or with another one, does not hold.
func TestNewCommand(t *testing.T) {
	for _, c := range []struct {
		name, settings, cmd string
		want                string // argv of its task; "" for none
		blocked             bool
		warned              string
	}{
		{"not trusted", "", "new", "", false,
			"the command that head gives it was not tried (trust.new_commands would run it)"},
		{"trusted", "trust: {new_commands: true}\n", "new", "run new", false, ""},
		{"the same command", "trust: {new_commands: true}\n", "it", "", false, ""},
		{"no plain word", "trust: {new_commands: true}\n", "--no-dry-run", "run", true, "not run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, head := world(), world()
			head.check()["cmd"], head.check()["run_order"] = c.cmd, 7
			in := input(t, base, head, exec+c.settings)
			p := made(t, in)
			task, ok := p.Task("it+head")
			if got := strings.Join(task.Argv, " "); got != c.want || ok != (c.want != "" || c.blocked) ||
				(task.Blocked != "") != c.blocked || ok && !task.NewCommand {
				t.Errorf("got the task %+v, want %q", task, c.want)
			}
			if base, _ := p.Task("it"); strings.Join(base.Argv, " ") != "run it" {
				t.Errorf("base's command is %q", base.Argv)
			}
			if warned := strings.Join(p.Warnings, "\n"); !strings.Contains(warned, c.warned) {
				t.Errorf("got the warnings %q, want %q", warned, c.warned)
			}
			r, err := planner.Verify(t.Context(), in, p)
			if err != nil || len(r.Refuted) > 0 {
				t.Errorf("the plan does not hold: %v, %v", r.Refuted, err)
			}
			for i, task := range p.Tasks {
				if !task.NewCommand {
					continue
				}
				without := *p
				without.Tasks = slices.Delete(slices.Clone(p.Tasks), i, i+1)
				if r, err := planner.Verify(t.Context(), in, &without); err != nil || len(r.Refuted) == 0 {
					t.Errorf("a plan without it holds: %v", err)
				}
				other := *p
				other.Tasks = slices.Clone(p.Tasks)
				other.Tasks[i].Argv = []string{"true"}
				if r, err := planner.Verify(t.Context(), in, &other); err != nil || len(r.Refuted) == 0 {
					t.Errorf("a plan with another one holds: %v", err)
				}
			}
		})
	}
}
