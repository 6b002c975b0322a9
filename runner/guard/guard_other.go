//go:build !linux

package guard

import (
	"context"
	"os"

	"github.com/app-sre/prcheck/internal/cli"
)

// Run calls work with the held file. On this system no process is guarded.
func Run(ctx context.Context, _ cli.Env, held HeldFile, work func(context.Context, *os.File) error) error {
	file, err := held.open(ctx)
	if err != nil {
		return err
	}
	if file != nil {
		defer file.Close()
	}
	return work(ctx, file)
}
