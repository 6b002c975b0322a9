package planner

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/source"
)

func diffCommand(env cli.Env) *cobra.Command {
	var base, head string
	form := cli.OneOf("text", "json")
	cmd := &cobra.Command{
		Use:   "diff --base REF --head REF [--format text|json]",
		Short: "Show what differs between two bundles",
		Long: `diff lists the datafiles that differ, each with its schema, its kind (added,
removed, modified, or metadata when nothing but $file_sha256sum or __identifier
changed) and the changed fields as JSON pointers; then resources, JSON schemas
and GraphQL types.`,
		Example: `  planner diff --base base.json --head head.json
  planner diff --base base.json --head head.json --format json | jq '.datafiles[].path'`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, h, err := source.In(env).Pair(cmd.Context(), base, head)
			if err != nil {
				return err
			}
			return writeChanges(env.Stdout, form.String(), planner.Changes(b, h))
		},
	}
	cmd.Flags().StringVar(&base, "base", "", "bundle before the change: "+references+" (required)")
	cmd.Flags().StringVar(&head, "head", "", "bundle with the change, likewise (required)")
	cmd.Flags().Var(&form, "format", "how to write it: text or json")
	return cmd
}

func writeChanges(w io.Writer, form string, c plan.Changes) error {
	if form == "text" {
		return report.ChangesText(w, c)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(c); err != nil {
		return fmt.Errorf("writing the changes: %w", err)
	}
	return nil
}
