//go:build !linux

package guard

import (
	"context"
	"os"

	"github.com/app-sre/prcheck/internal/cli"
)

// Work calls work with the file that is held.
func Work(ctx context.Context, _ cli.Env, hold Hold, work func(context.Context, *os.File) error) error {
	held, err := hold.open(ctx)
	if err != nil {
		return err
	}
	if held != nil {
		defer held.Close()
	}
	return work(ctx, held)
}
