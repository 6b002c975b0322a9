package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/owners/comparison"
	"github.com/app-sre/prcheck/owners/content"
	"github.com/app-sre/prcheck/source"
)

// ownersText is the help of planner owners.
const ownersText = `owners compares two bundles and says for each difference of content who may
approve it: the people whom the change types and roles of base name for exactly
that place. It names the fewest people who can approve everything, and what is
missing where nobody may. It needs no network and no merge request.

--compare reads the comment in which change-owners of qontract-reconcile reports, and
says for each place where both differ what each says, and the rule of this program.

Between revisions of one repository it also says who may approve changed files that
are in no bundle: the approvers in the OWNERS files of base above them.

Exit codes: 1 with --require if nobody may approve a place, and if rules of head
cannot be used; 2 if the rules of base cannot be used; 3 if it could not be found
out who may approve a place.`

func ownersCommand(env cli.Env) *cobra.Command {
	var base, head, explain, compare string
	var in owners.Input
	var require bool
	form := cli.OneOf("text", "markdown", "json")
	cmd := &cobra.Command{
		Use:   "owners --base REF --head REF [--explain \"FILE PLACE\"] [--require]",
		Short: "Say who must approve a change, before anybody is asked",
		Long:  ownersText,
		Example: `  planner owners --base base.json --head head.json
  planner owners --base git:main --head dir:. --author ana --require
  planner owners --base base.json --head head.json --explain "/apps/shop.yml name"`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if in, err = openSides(cmd.Context(), env, in, base, head); err != nil {
				return err
			}
			in.Today = time.Now().UTC().Format(time.DateOnly)
			r, err := owners.Check(in)
			if wrong := (*owners.RulesError)(nil); errors.As(err, &wrong) {
				return cli.Invalid(err)
			}
			if err != nil {
				return err
			}
			if explain != "" {
				return explainOwners(env.Stdout, r, explain)
			}
			if compare != "" {
				return compareOwners(env.Stdout, form.String(), r, compare)
			}
			if err := writeOwners(env.Stdout, form.String(), r); err != nil {
				return fmt.Errorf("writing who must approve: %w", err)
			}
			return verdict(r, require)
		},
	}
	cmd.AddCommand(ownersLintCommand(env), ownersChangelogCommand(env))
	cmd.Flags().StringVar(&base, "base", "", "bundle before the change: "+references+" (required)")
	cmd.Flags().StringVar(&head, "head", "", "bundle with the change, likewise (required)")
	cmd.Flags().Var(&form, "format", "how to write it: text, markdown or json")
	cmd.Flags().StringVar(&in.Author, "author", "", "who makes the change, and is asked last")
	cmd.Flags().BoolVar(&in.IgnoreAuthor, "ignore-author", false, "the author's own word approves nothing")
	cmd.Flags().BoolVar(&require, "require", false, "end with 1 if nobody may approve a place")
	cmd.Flags().StringVar(&compare, "compare", "", "file with a report of change-owners: say where both differ")
	cmd.Flags().StringVar(&explain, "explain", "", "say why who may approve this place, such as \"/apps/shop.yml name\"")
	return cmd
}

// openSides opens both sides of a change, and finds its files that are in no bundle.
func openSides(ctx context.Context, env cli.Env, in owners.Input, base, head string) (owners.Input, error) {
	open := source.In(env)
	var err error
	if open.Settings, err = source.ReadSettings(""); err != nil {
		return in, err
	}
	if in.Base, in.Head, err = open.Pair(ctx, base, head); err != nil {
		return in, err
	}
	asked, err := change.OwnersSettings(ctx, base)
	if err != nil {
		return in, err
	}
	in.Unordered = content.Unordered{All: asked.IgnoresOrder, Fields: asked.Unordered}
	two := change.Two{Base: base, Head: head, InBase: in.Base, InHead: in.Head, Checkout: open.Settings.Checkout()}
	in.Outside, in.ReadBase, err = two.Outside(ctx)
	return in, err
}

func writeOwners(w io.Writer, form string, r *owners.Report) error {
	switch form {
	case "json":
		return owners.WriteJSON(w, r)
	case "markdown":
		return owners.WriteMarkdown(w, r)
	}
	return owners.WriteText(w, r)
}

func explainOwners(w io.Writer, r *owners.Report, name string) error {
	ok, err := owners.WriteExplanation(w, r, name)
	if err == nil && !ok {
		return cli.Usage(fmt.Errorf("nothing differs at %q: --explain takes a file and a place, as the table has them", name))
	}
	return err
}

// compareOwners writes where a report of change-owners, which a file has, says something else.
func compareOwners(w io.Writer, form string, r *owners.Report, name string) error {
	raw, err := os.ReadFile(name) //nolint:gosec // the user names it
	if err != nil {
		return cli.Invalid(err)
	}
	rows, err := comparison.Read(string(raw))
	if err != nil {
		return cli.Invalid(fmt.Errorf("%s: %w", name, err))
	}
	c := comparison.Of(comparison.FromReport(r), rows, false)
	if form == "json" {
		err = owners.WriteJSON(w, c)
	} else {
		err = comparison.WriteText(w, c)
	}
	if err != nil {
		return fmt.Errorf("writing where both differ: %w", err)
	}
	return nil
}

// verdict returns the error by which the command ends.
func verdict(r *owners.Report, require bool) error {
	for _, p := range r.Places {
		if p.Status == owners.Unknown {
			return fmt.Errorf("%s: it could not be found out who may approve it: %s", p.Name(), p.Why)
		}
	}
	isHeadBroken := slices.ContainsFunc(r.Findings, func(f owners.Finding) bool { return f.Side == "head" })
	if isHeadBroken || require && len(r.Ask.Nobody) > 0 {
		return cli.ErrFailed
	}
	return nil
}

func ownersLintCommand(env cli.Env) *cobra.Command {
	var ref string
	form := cli.OneOf("text", "json")
	cmd := &cobra.Command{
		Use:   "lint --bundle REF",
		Short: "Say what of change types and roles may not do what was meant",
		Long: `lint looks at the change types and roles of one bundle. It tells rules that cannot
be used; selectors that match nothing in any file, contexts that are not bound to
their file, change types that nobody binds, roles that ended, names that two users
have; and for each schema how much of the data has an owner. It ends with 1 if a
rule cannot be used.`,
		Example: "  planner owners lint --bundle base.json",
		Args:    cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ref == "" {
				return cli.Usage(errors.New("--bundle is required"))
			}
			b, err := source.In(env).Bundle(cmd.Context(), ref, nil)
			if err != nil {
				return err
			}
			l := owners.LintRules(b, time.Now().UTC().Format(time.DateOnly))
			if form.String() == "json" {
				err = owners.WriteJSON(env.Stdout, l)
			} else {
				err = owners.WriteLint(env.Stdout, l)
			}
			if err != nil {
				return fmt.Errorf("writing what was found: %w", err)
			}
			if len(l.Faults) > 0 {
				return cli.ErrFailed
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&ref, "bundle", "", "bundle to look at: "+references+" (required)")
	cmd.Flags().Var(&form, "format", "how to write it: text or json")
	return cmd
}
