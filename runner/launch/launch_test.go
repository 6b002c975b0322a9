package launch

import (
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/server"
)

// A task gets a server only if it can learn its address. Each attempt is observed.
func TestOnlyTasksThatCanQueryGetAServer(t *testing.T) {
	base, head, err := pair()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		exec integration.Exec
		task plan.Task
		want bool
	}{
		"nothing":  {task: plan.Task{Argv: []string{"true", "{base_sha}"}}},
		"native":   {task: plan.Task{Native: true}, want: true},
		"argument": {task: plan.Task{Argv: []string{"x", "--url={graphql_url}"}}, want: true},
		"config":   {exec: integration.Exec{Config: "server = {base_url}"}, want: true},
		"variable": {exec: integration.Exec{Env: map[string]string{"URL": "{graphql_url}"}}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			observed := ""
			w := Environment{Base: base, Head: head, Settings: &integration.Settings{Exec: c.exec}, Observe: func(id string) func(server.Exchange) {
				observed = id
				return nil
			}}
			open, err := w.endpoints()
			if err != nil {
				t.Fatal(err)
			}
			c.task.ID = "it"
			e, err := open(t.Context(), c.task)
			if err != nil {
				t.Fatal(err)
			}
			vars := e.Vars()
			if got := vars["graphql_url"] != "" && vars["base_url"] != ""; got != c.want || vars["base_sha"] != base.SHA256() || observed != "it" {
				t.Errorf("got %q, observed %q, want a server %v", vars, observed, c.want)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
