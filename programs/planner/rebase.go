package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/proving"
	"github.com/app-sre/prcheck/source"
)

// rebaseFlags are the flags of rebase.
type rebaseFlags struct {
	base, head    string
	config, state string
}

func rebaseCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	var f rebaseFlags
	form := cli.OneOf("text", "json")
	cmd := &cobra.Command{
		Use:   "rebase --base git:REV --head git:REV [--state STATE]",
		Short: "Say which results still hold when a change is rebased, and what has to run",
		Long: `rebase makes the commits of --head anew on --base, in memory: no branch, working tree
or object of the repository changes. It validates the tree that this makes, plans it by
the settings, queries and definitions of --base, and looks up in --state which tasks
passed with the very same inputs, at their first attempt. The rest has to run.

A result never holds for a task that always runs, a native, a flaky task, or one whose
rules the change edits. Mistakes that --base has as well keep no change back.

Exit codes: 0 it can be merged, once what has to run has passed; 1 git cannot rebase it,
or the rebased data have new mistakes; 3 it could not be found out.`,
		Example: `  planner rebase --base git:origin/main --head git:HEAD --state s3://checks/state
  planner rebase --base git:main --head git:change --format json | jq .delta`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := f.decide(cmd.Context(), env, natives)
			if err != nil {
				return err
			}
			if form.String() == "json" {
				e := json.NewEncoder(env.Stdout)
				e.SetEscapeHTML(false)
				err = e.Encode(d)
			} else {
				err = writeRebased(env, d)
			}
			if err != nil {
				return fmt.Errorf("writing what holds: %w", err)
			}
			return rebaseVerdict(d)
		},
	}
	cmd.Flags().StringVar(&f.base, "base", "", "commit to rebase on: git:REV[@DIR] (required)")
	cmd.Flags().StringVar(&f.head, "head", "", "last commit of the change, likewise (required)")
	cmd.Flags().StringVar(&f.config, "config", "", "path of the settings in --base (default prcheck.yaml)")
	cmd.Flags().StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, that remembers which tasks passed "+
		"(default: nothing holds)")
	cmd.Flags().Var(&form, "format", "how to write it: text or json")
	return cmd
}

// decide decides about the change.
func (f rebaseFlags) decide(ctx context.Context, env cli.Env, natives []integration.DryRunner) (queue.Decision, error) {
	for flag, ref := range map[string]string{"--base": f.base, "--head": f.head} {
		if _, _, ok := source.ParseRevision(ref); !ok {
			return queue.Decision{}, cli.Usage(fmt.Errorf("%s must be a revision such as git:main, not %q", flag, ref))
		}
	}
	base, err := source.OpenRevision(ctx, f.base)
	if err != nil {
		return queue.Decision{}, err
	}
	head, err := source.OpenRevision(ctx, f.head)
	if err != nil {
		return queue.Decision{}, err
	}
	p, err := proving.New(ctx, proving.Place{Env: env, Repository: head.Dir(), Config: f.config, State: f.state,
		Natives: natives})
	if err != nil {
		return queue.Decision{}, err
	}
	pair := queue.Pair{Head: head.Hash(), Base: base.Hash()}
	d := p.Look(ctx)(pair.Base, queue.Request{Head: pair.Head}).Decide(pair)
	return d, errors.Join(ctx.Err(), p.Close())
}

// writeRebased writes a decision for people.
func writeRebased(env cli.Env, d queue.Decision) error {
	_, err := fmt.Fprintf(env.Stdout, "%s on %s %s.\n", git.Short(d.Pair.Head), git.Short(d.Pair.Base),
		sanitize.Line(d.Reason.String()))
	for _, of := range []struct {
		title string
		names []string
	}{{"holds", d.Holding}, {"runs", d.Delta}} {
		if len(of.names) > 0 && err == nil {
			_, err = fmt.Fprintf(env.Stdout, "  %-7s%s\n", of.title, sanitize.Line(strings.Join(of.names, ", ")))
		}
	}
	return err
}

// rebaseVerdict returns the error by which the command ends.
func rebaseVerdict(d queue.Decision) error {
	switch d.State {
	case queue.Holds, queue.Delta, queue.NothingLeft:
		return nil
	case queue.Conflict, queue.Invalid:
		return cli.ErrFailed
	}
	return errors.New("it could not be found out what holds")
}
