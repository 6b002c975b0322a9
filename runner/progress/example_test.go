package progress_test

import (
	"os"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/progress"
	"github.com/app-sre/prcheck/wrapper"
)

func ExampleStart() {
	p := &plan.Plan{Tasks: []plan.Task{{ID: "terraform-users/app-sre"}, {ID: "ldap-groups"}}}
	show := progress.Start(p, progress.Display{Out: os.Stdout, Mode: progress.Plain, Jobs: 2})
	defer show.Close()
	show.Observe(wrapper.Event{Task: p.Tasks[0]}) // it starts
	show.Observe(wrapper.Event{Task: p.Tasks[0], Result: &plan.Result{Status: plan.Passed, Seconds: 4.1, Attempts: 1}})
	// Output: [  0s] 1/2 passed terraform-users/app-sre in 4.1s
}
