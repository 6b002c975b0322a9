//go:build !linux

package guard

import (
	"context"

	"github.com/app-sre/prcheck/internal/cli"
)

// Run calls work with its workspace. On this system no process is guarded.
func Run(ctx context.Context, _ cli.Env, held HeldFile, work func(context.Context, Workspace) error) error {
	space, err := openWorkspace(ctx, held)
	if err != nil {
		return err
	}
	defer space.close()
	return work(ctx, space)
}
