package runner

import (
	"context"
	"io"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/archive"
	"github.com/app-sre/prcheck/source"
)

// file returns the file for the results, "" if they go to stdout or to a bucket.
func (f runFlags) file() string {
	if source.IsObject(f.out) {
		return ""
	}
	return f.out
}

// write writes results to the file or object of --out, or to stdout.
func (f runFlags) write(ctx context.Context, stdout io.Writer, r *plan.Results) error {
	if !source.IsObject(f.out) {
		return writeResults(stdout, f.out, r)
	}
	bucket, key, err := source.Bucket(ctx, f.out)
	if err != nil {
		return err
	}
	return archive.StoreResults(ctx, bucket, key, f.logs, r)
}

// writeResults writes results to a file, or to stdout if no file is named.
func writeResults(stdout io.Writer, name string, r *plan.Results) error {
	write := func(w io.Writer) error { return plan.WriteResults(w, r) }
	if name == "" {
		return write(stdout)
	}
	return cli.WriteFile(name, write)
}
