package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

func planCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	in := change.Inputs{Natives: natives}
	var out, log string
	var told bool
	validate := change.Validation()
	form, color := cli.OneOf("text", "json", "markdown"), cli.Colors()
	cmd := &cobra.Command{
		Use:   "plan [--base REF --head REF] [flags]",
		Short: "Decide about every integration",
		Long: `plan decides about every integration of either bundle and lists the tasks that
follow. Without --out the plan goes to stdout in the chosen format. With --out
the file gets the plan as JSON, which runner needs, and stdout gets it too when a
format is asked for. Text and Markdown also say what the merge would start, where an
integration can tell from the data alone. With --effects they say what the change
does: which things are created, changed (from what to what) and deleted, and which
line of the data leads to it. Nothing is asked, so no credentials are needed. As JSON the
effects take the place of the plan on stdout; --out has the plan.

In a job of GitLab, without --base and --head, the variables of the job say what
is compared, and the settings are those of base.`,
		Example: `  planner plan --base base.json --head head.json --config prcheck.yaml
  planner plan --base base.json --head head.json --out plan.json
  planner plan --base git:origin/main --head dir:. --effects
  planner plan --base git:origin/main --head dir:. --effects --format json | jq '.told[].effects.items'
  planner plan --base base.json --head head.json --format json | jq '.integrations[] | select(.decision != "skip")'`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := git.Pin(cmd.Context())
			in.Writes = []string{out, log}
			if err := change.CheckPaths(ctx, env, change.Paths{Files: []string{out, log}}); err != nil {
				return err
			}
			return logged(ctx, log, env, func(ctx context.Context, env cli.Env) error {
				opened, p, err := makePlan(ctx, env, in, validate, out)
				if err != nil || out != "" && !told && !cmd.Flags().Changed("format") {
					return err
				}
				return writeParts(ctx, env, form.String(), color, opened, p, told)
			})
		},
	}
	addInputFlags(cmd, &in)
	cmd.Flags().Var(&validate, "validate", "how much of head is checked for mistakes first; auto is changed in a "+
		"checkout, and none for bundle files")
	cmd.Flags().BoolVar(&in.NoReuse, "no-reuse", false, "plan also tasks that passed with the same inputs before, as "+
		"--state remembers")
	cmd.Flags().StringVar(&out, "out", "", "file for the plan as JSON")
	cmd.Flags().BoolVar(&told, "effects", false, "tell what the change does, as native integrations know it from the data "+
		"alone")
	cmd.Flags().StringVar(&log, "log", "", "file that gets what is said on stderr, too; its folder is made")
	cmd.Flags().Var(&color, "color", cli.ColorUsage)
	cmd.Flags().Var(&form, "format", "how to write it to stdout: text, json or markdown")
	return cmd
}

// makePlan makes a plan and writes it to a file, if one is named.
func makePlan(ctx context.Context, env cli.Env, in change.Inputs, validate cli.Choice,
	out string) (*change.Change, *plan.Plan, error) {
	if change.InJob(env.Getenv) && out != "" {
		if err := safepath.Remove(out); err != nil { // a plan of an earlier job must not be taken for the one of this job
			return nil, nil, fmt.Errorf("removing an older plan: %w", err)
		}
	}
	in, err := in.Complete(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	opened, err := in.OpenChecked(ctx, env, validate)
	if err != nil {
		return nil, nil, err
	}
	p, err := opened.Plan(ctx)
	if err != nil || out == "" {
		return opened, p, err
	}
	return opened, p, cli.WriteFile(out, func(w io.Writer) error { return plan.Write(w, p) })
}

// references lists the kinds of references to bundles, for help texts.
const references = "a file, git:REV[@DIR], dir:PATH, s3://BUCKET/KEY, or http(s)://SERVER/graphqlsha/SHA"

// addInputFlags adds the flags that name what a plan is made from.
func addInputFlags(cmd *cobra.Command, in *change.Inputs) {
	cmd.Flags().StringVar(&in.Base, "base", "",
		"bundle before the change: "+references+" (required but in a job of GitLab)")
	cmd.Flags().StringVar(&in.Head, "head", "", "bundle with the change, likewise")
	cmd.Flags().StringVar(&in.Config, "config", "",
		"settings: a file, base:PATH of base's revision, or git:REV[@DIR]:PATH (default prcheck.yaml if it exists; in a "+
			"job of GitLab, files of the repository are those of base)")
	cmd.Flags().BoolVar(&in.NoCache, "no-cache", false, "remember nothing of checkouts that are bundled")
	cmd.Flags().StringVar(&in.State, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers what tasks asked when "+
		"they passed, and with which inputs, and how long they took (default: nothing is remembered)")
}

// writeParts writes a plan, what natives tell of the change if that is asked for, and what the merge would start.
func writeParts(ctx context.Context, env cli.Env, form string, color cli.Choice, c *change.Change, p *plan.Plan,
	withEffects bool) error {
	if withEffects && form == "json" {
		return writeAllTold(env, p, c.Told(ctx, p))
	}
	if err := writePlan(env, form, color, p); err != nil {
		return err
	}
	if withEffects {
		told, write := c.Told(ctx, p), report.ToldMarkdown
		if form == "text" {
			write = func(w io.Writer, all []report.Told) error {
				return report.ToldText(w, all, report.Style{Color: env.Color(color, env.Stdout)})
			}
		}
		if err := write(env.Stdout, told); err != nil {
			return err
		}
	}
	return writePreviews(ctx, env, form, color, c, p)
}

// writeAllTold writes what natives tell of a change as JSON, with the digest of the plan.
func writeAllTold(env cli.Env, p *plan.Plan, told []report.Told) error {
	if told == nil {
		told = []report.Told{}
	}
	e := json.NewEncoder(env.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Version string        `json:"version"`
		Plan    string        `json:"plan"` // its digest
		Told    []report.Told `json:"told"` // by integration
	}{plan.Version, p.Digest, told})
}

// writePreviews writes what the merge would start. JSON is the plan alone.
func writePreviews(ctx context.Context, env cli.Env, form string, color cli.Choice, c *change.Change,
	p *plan.Plan) error {
	switch form {
	case "json":
		return nil
	case "markdown":
		return report.PreviewMarkdown(env.Stdout, c.Previews(ctx, p))
	}
	return report.PreviewText(env.Stdout, c.Previews(ctx, p), report.Style{Color: env.Color(color, env.Stdout)})
}

func writePlan(env cli.Env, form string, color cli.Choice, p *plan.Plan) error {
	switch form {
	case "json":
		return plan.Write(env.Stdout, p)
	case "markdown":
		return report.PlanMarkdown(env.Stdout, p)
	}
	return report.PlanText(env.Stdout, p, report.Style{Color: env.Color(color, env.Stdout)})
}

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
