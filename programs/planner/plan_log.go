package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
)

// logged calls run with a stderr that also goes to a file, unless the name is "". The errors
// of run go there, too.
func logged(ctx context.Context, name string, env cli.Env, run func(context.Context, cli.Env) error) error {
	if name == "" {
		return run(ctx, env)
	}
	f, err := openLog(name)
	if err != nil {
		return fmt.Errorf("writing the log %q: %w", name, err)
	}
	env.Stderr = io.MultiWriter(env.Stderr, f)
	code := cli.Run(ctx, "planner", env, run)
	return errors.Join(cli.Told(code), f.Close())
}

// openLog makes the file for a log, and its folder, or empties the one that is there.
func openLog(name string) (*os.File, error) {
	folder, err := safepath.MakeFolder(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return safepath.OpenFileIn(folder, filepath.Base(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
}
