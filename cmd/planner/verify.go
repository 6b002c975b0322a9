package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/report"
	"github.com/app-sre/prcheck/source"
)

func verifyCommand(env cli.Env) *cobra.Command {
	var name, page string
	var in change.Inputs
	cmd := &cobra.Command{
		Use:   "verify --plan FILE --base REF --head REF [--config FILE]",
		Short: "Replay every skip of a plan from the two bundles",
		Long: `verify proves once more what a plan leaves out, the slow way and by other code
than that which made the plan: both bundles are decoded as a whole, all queries
are answered as a whole, and all rules are asked anew. Exit code 1 and a list
when something is left out that cannot be proven. What was left out by traces or
earlier results is proven by the --state that the plan was made with.

These things are taken as they are: how bundles are split into files, the settings
and what head edits of the rules, answers to GraphQL queries, and how work is divided
into tasks.

With --html the proof of each skip is a page for a person: both sides, what the
integration reads, what of that differs, and what that rules out.`,
		Example: `  planner verify --plan plan.json --base base.json --head head.json --config prcheck.yaml
  planner verify --plan plan.json --base base.json --head head.json --html proof.html`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return verify(git.Pin(cmd.Context()), env, in, name, page)
		},
	}
	cmd.Flags().StringVar(&name, "plan", "", "plan to verify (required)")
	cmd.Flags().StringVar(&page, "html", "", "file that gets a page with the proof of each skip; - is stdout, in place of the text")
	addInputFlags(cmd, &in)
	return cmd
}

// verify checks the plan of a file and writes the proof, also to a page if that has a name.
func verify(ctx context.Context, env cli.Env, in change.Inputs, name, page string) error {
	p, err := source.ReadPlan(name)
	if err != nil {
		return err
	}
	if in, err = in.Complete(ctx, env); err != nil {
		return err
	}
	in.Writes, in.Plan = []string{page}, p
	opened, err := in.Open(ctx, env)
	if err != nil {
		return err
	}
	r, err := opened.Verify(ctx, p)
	if err != nil {
		return err
	}
	if err := writeProofPage(ctx, env, page, opened, p, r); err != nil {
		return err
	}
	if page != "-" {
		err = writeProof(env.Stdout, p, r)
	}
	if err != nil {
		return err
	}
	if len(r.Refuted) == 0 {
		return nil
	}
	hintAtState(env.Stderr, opened, p)
	return cli.ErrFailed
}

// writeProof writes what does not hold, or that all decisions do, and how many skips are
// proven, believed and refuted.
func writeProof(w io.Writer, p *plan.Plan, r proof.Report) error {
	for _, g := range r.Refuted {
		if _, err := fmt.Fprintf(w, "%s: %s\n", report.Printable(g.Integration), report.Printable(g.Why)); err != nil {
			return err
		}
	}
	if len(r.Refuted) == 0 {
		if _, err := fmt.Fprintf(w, "all %d decisions hold\n", len(p.Integrations)); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(w, "skips: %d proven, %d believed, %d refuted\n", len(r.Proven), len(r.Believed), len(r.Refuted)); err != nil {
		return err
	}
	for _, a := range plan.Assumptions() {
		if n := len(r.Assumed[a]); n > 0 {
			if _, err := fmt.Fprintf(w, "assumed: %s\n", a.Sentence(n)); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(w, "taken as they are: files of bundles, settings, edits of rules, answers to queries, division into tasks")
	return err
}

// hintAtState says what is missing when a plan that rests on a state is verified without one.
func hintAtState(w io.Writer, opened *change.Change, p *plan.Plan) {
	if opened.State == nil && slices.ContainsFunc(p.Integrations, usesState) {
		_, _ = fmt.Fprintln(w, "planner: the plan leaves out what traces or earlier results prove: give the --state that it was made with") // only a hint
	}
}

// usesState reports whether a decision is proven by traces or by earlier results.
func usesState(d plan.Decision) bool { return len(d.Evidence.Traces)+len(d.Evidence.Passed) > 0 }
