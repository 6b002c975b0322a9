package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/source"
)

// maxQuery is the size in bytes up to which a query is read.
const maxQuery = 1 << 20

func queryCommand(env cli.Env) *cobra.Command {
	var ref, variables, operation string
	cmd := &cobra.Command{
		Use:   "query --bundle REF [flags] QUERY-FILE|-",
		Short: "Answer a GraphQL query over a bundle",
		Long: `query answers a GraphQL query over one bundle with the embedded engine. The
response that qontract-server would give goes to stdout. Exit code 0: a clean
answer; 1: the answer holds errors; 2: the query is rejected (status 400 there).`,
		Example: `  planner query --bundle head.json users.graphql
  echo '{ users_v1 { name } }' | planner query --bundle head.json -`,
		Args: cli.Takes("QUERY-FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			req, err := readRequest(env, args[0], variables, operation)
			if err != nil {
				return err
			}
			return query(cmd.Context(), env, ref, req)
		},
	}
	cmd.Flags().StringVar(&ref, "bundle", "", "bundle to ask: "+references+" (required)")
	cmd.Flags().StringVar(&variables, "variables", "", "values of the query's variables, a JSON object")
	cmd.Flags().StringVar(&operation, "operation", "", "name of the operation, when the query has several")
	return cmd
}

func readRequest(env cli.Env, name, variables, operation string) (gql.Request, error) {
	req := gql.Request{Operation: operation}
	if variables != "" {
		v, err := bundle.ParseValue([]byte(variables))
		object, ok := v.(*bundle.Object)
		if err == nil && !ok {
			err = errors.New("not a JSON object")
		}
		if err != nil {
			return req, cli.Usage(fmt.Errorf("--variables: %w", err))
		}
		req.Variables = object
	}
	in := env.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return req, cli.Invalid(fmt.Errorf("reading query: %w", err))
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxQuery+1))
	if err != nil {
		return req, cli.Invalid(fmt.Errorf("reading query: %w", err))
	}
	if len(raw) > maxQuery {
		return req, cli.Invalid(fmt.Errorf("reading query %q: larger than 1 MiB", name))
	}
	req.Query = string(raw)
	return req, nil
}

func query(ctx context.Context, env cli.Env, ref string, req gql.Request) error {
	if ref == "" {
		return cli.Usage(errors.New("--bundle is required: the bundle file to ask"))
	}
	res, err := answer(ctx, env, ref, req)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(env.Stdout, "%s\n", res.JSON()); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	switch {
	case res.Status != 200 && len(res.Errors) > 0:
		return cli.Invalid(fmt.Errorf("the query is rejected: %s", res.Errors[0].Message))
	case res.Status != 200:
		return cli.Invalid(errors.New("the query is rejected"))
	case len(res.Errors) > 0:
		return cli.ErrFailed
	}
	return nil
}

// answer answers a request over a bundle, or lets the live server answer that has the bundle.
func answer(ctx context.Context, env cli.Env, ref string, req gql.Request) (*gql.Response, error) {
	from, err := answerer(ctx, source.In(env), ref)
	if err != nil {
		return nil, err
	}
	res := from.Answer(ctx, req)
	if side, ok := from.(*live.BundleClient); ok {
		return res, source.LiveError(side.Err())
	}
	return res, nil
}

// answerer returns what answers queries over a bundle: the engine, or the live server that has
// the bundle.
func answerer(ctx context.Context, open source.Opener, ref string) (affected.Answerer, error) {
	if source.IsLive(ref) {
		return open.LiveSide(ref)
	}
	b, err := open.Bundle(ctx, ref, nil)
	if err != nil {
		return nil, err
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("bundle %q: %w", ref, err))
	}
	return gql.New(b, schema), nil
}
