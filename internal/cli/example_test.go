package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/app-sre/prcheck/internal/cli"
)

func ExampleRun() {
	env := cli.Env{Stdout: os.Stdout, Stderr: os.Stdout, Getenv: os.Getenv}
	code := cli.Run(context.Background(), "planner", env, func(context.Context, cli.Env) error {
		return fmt.Errorf("reading %q: %w", "prcheck.yaml", cli.Invalid(errors.Join(
			errors.New("no version"), errors.New("no exec"))))
	})
	fmt.Println("exit code", code)
	// Output:
	// planner: reading "prcheck.yaml": no version
	// planner: reading "prcheck.yaml": no exec
	// exit code 2
}
