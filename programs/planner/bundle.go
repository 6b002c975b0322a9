package planner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/validator"
	"github.com/app-sre/prcheck/source"
)

type bundleFlags struct {
	folders   source.Folders
	commit    string
	timestamp int64
	out       string
	noCache   bool
	validate  cli.Choice
}

func bundleCommand(env cli.Env) *cobra.Command {
	f := bundleFlags{validate: change.Validation()}
	cmd := &cobra.Command{
		Use:   "bundle --data DIR --resources DIR --schemas DIR --graphql FILE --out FILE [flags]",
		Short: "Make the bundle of a checkout",
		Long: `bundle reads datafiles, resources, JSON schemas and GraphQL types and writes the
bundle that qontract-server loads, byte for byte as qontract-bundler does but for
the order of back references, which is that of path and jsonpath here. Whatever
cannot be bundled is listed with file, line and column; then nothing is written
and the exit code is 2. A bundle that is written is then checked as planner
validate does; the exit code is 1 when it has mistakes.`,
		Example: `  planner bundle --data data --resources resources --schemas ../schemas/schemas --graphql ../schemas/graphql-schemas/schema.yml --out bundle.json
  planner bundle --data data --resources resources --schemas schemas --graphql schema.yml --commit "$(git rev-parse HEAD)" --timestamp "$(git log -1 --format=%ct)" --out -`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), env) },
	}
	cmd.Flags().StringVar(&f.folders.Data, "data", "", "folder of the datafiles (required)")
	cmd.Flags().StringVar(&f.folders.Resources, "resources", "", "folder of the resources (required)")
	cmd.Flags().StringVar(&f.folders.Schemas, "schemas", "", "folder of the JSON schemas (required)")
	cmd.Flags().StringVar(&f.folders.GraphQL, "graphql", "", "file with the GraphQL types (required)")
	cmd.Flags().StringVar(&f.commit, "commit", "", "git_commit of the bundle")
	cmd.Flags().Int64Var(&f.timestamp, "timestamp", 0, "git_commit_timestamp of the bundle, in unix seconds")
	cmd.Flags().StringVar(&f.out, "out", "", "file for the bundle, - for stdout (required)")
	cmd.Flags().Var(&f.validate, "validate", "whether the bundle is checked for mistakes once it is written: all (which "+
		"is auto) or none")
	cmd.Flags().BoolVar(&f.noCache, "no-cache", false, "remember nothing of the files that are read")
	return cmd
}

func (f bundleFlags) run(ctx context.Context, env cli.Env) error {
	if f.out == "" {
		return cli.Usage(errors.New("--out is required: the file for the bundle, or - for stdout"))
	}
	if f.validate.String() == "changed" {
		return cli.Usage(errors.New("--validate changed needs a base to tell what changed: planner validate has one"))
	}
	if f.timestamp < 0 {
		return cli.Usage(errors.New("--timestamp must not be negative"))
	}
	if f.out != "-" {
		if err := change.CheckPaths(ctx, env, change.Paths{Files: []string{f.out}}); err != nil {
			return err
		}
	}
	timestamp := ""
	if f.timestamp > 0 {
		timestamp = strconv.FormatInt(f.timestamp, 10)
	}
	cache := ""
	if !f.noCache {
		cache = source.CacheFolder(env.Getenv)
	}
	b, err := f.folders.Make(ctx, f.commit, timestamp, cache)
	if err != nil {
		return err
	}
	defer b.Close()
	write := func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	}
	if f.out != "-" {
		err = cli.WriteFile(f.out, write)
	} else if err = write(env.Stdout); err != nil {
		err = fmt.Errorf("writing the bundle: %w", err)
	}
	if err != nil || f.validate.String() == "none" {
		return err
	}
	return f.check(ctx, env.Stderr, write)
}

// check checks the bundle as it was written, and writes its mistakes to w.
func (f bundleFlags) check(ctx context.Context, w io.Writer, write func(io.Writer) error) error {
	var raw bytes.Buffer
	if err := write(&raw); err != nil {
		return err
	}
	b, err := bundle.ParseUnchecked(raw.Bytes(), nil)
	if err != nil {
		return cli.Invalid(fmt.Errorf("reading the bundle: %w", err))
	}
	return change.Validate(ctx, w, b, validator.Options{Scope: validator.All}, f.folders.Texts())
}
