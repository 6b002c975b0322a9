package wrapper_test

import (
	"context"
	"fmt"
	"io"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// checker is a Runner that does not need a process.
type checker struct{}

func (checker) Run(_ context.Context, task plan.Task, log io.Writer) error {
	fmt.Fprintf(log, "checking %s with s3cr3t\n", task.ID)
	if task.ID == "dns" {
		return &wrapper.ExitError{Code: 3}
	}
	return nil
}

func ExampleRun() {
	tasks := []plan.Task{
		{ID: "dns", Integration: "dns", Timeout: "10m0s"},
		{ID: "users", Integration: "users", Timeout: "10m0s"},
		{ID: "new", Integration: "new", Timeout: "10m0s", Blocked: "only head defines it"},
	}
	results, err := wrapper.Run(context.Background(), tasks, checker{},
		wrapper.RunOptions{Masker: mask.New([]string{"s3cr3t"})})
	for _, r := range results {
		fmt.Printf("%s: %s %q %q\n", r.Task, r.Status, r.Reason, r.Tail)
	}
	fmt.Println(err)
	// Output:
	// dns: failed "exit code 3" "checking dns with ***"
	// users: passed "" "checking users with ***"
	// new: not_run "only head defines it" ""
	// <nil>
}

func ExampleProcess() {
	runner := wrapper.Process{Command: func(plan.Task) (wrapper.Command, error) {
		return wrapper.Command{
			Argv: []string{"/bin/echo", "{task}", "on", "{server}", "{unknown}"},
			Vars: map[string]string{"server": "127.0.0.1:4000"},
		}, nil
	}}
	tasks := []plan.Task{{ID: "dns", Integration: "dns", Timeout: "1m0s"}}
	results, err := wrapper.Run(context.Background(), tasks, runner, wrapper.RunOptions{})
	fmt.Println(results[0].Status, results[0].Tail, err)
	// Output: passed dns on 127.0.0.1:4000 {unknown} <nil>
}

func ExampleLogName() {
	fmt.Println(wrapper.LogName("terraform-users/app-sre"))
	fmt.Println(wrapper.LogName("../../etc/passwd"))
	// Output:
	// terraform-users-app-sre-5e41131dbf2a.log
	// etc-passwd-3754d6cb3a38.log
}
