package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/selftest"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/qontract/server"
)

func selftestCommand(env cli.Env, natives []integration.DryRunner) *cobra.Command {
	in := change.Inputs{Natives: natives}
	var server string
	form := cli.OneOf("text", "json")
	cmd := &cobra.Command{
		Use:   "selftest --base REF --head REF [--config FILE] [--server URL]",
		Short: "Check laws of the planner on your own bundles",
		Long: `selftest checks promises that hold for every change, on the two bundles that you
name: a change of nothing plans nothing, base and head swapped select the same, the
order of files and keys does not matter, and others. It makes variants of the
bundles, plans them and compares the plans. Nothing is run and nothing is written.

One line is printed for each law: ok, broken with the smallest counterexample that
was found, or not applicable with the reason. A broken law is a bug of the planner:
please report it. Exit code 1 when a law is broken.

With --server a running qontract-server is asked each query on which a skip rests,
on both bundles, and one more line says how many answers were the same as prcheck's
own. The server must have loaded both bundle files. Another answer breaks the law; a
question that it does not answer is not asked (exit code 3). The variable
PRCHECK_AUTHORIZATION is sent as the Authorization header.`,
		Example: `  planner upkeep selftest --base base.json --head head.json --config prcheck.yaml
  planner upkeep selftest --base git:origin/main --head dir:.
  planner upkeep selftest --base base.json --head head.json --server http://127.0.0.1:4000
  planner upkeep selftest --base base.json --head head.json --format json | jq '.laws[] | select(.status == "broken")'`,
		Args: cli.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return selftestOf(git.Pin(cmd.Context()), env, in, server, form.String())
		},
	}
	addServerFlag(cmd, &server)
	addInputFlags(cmd, &in)
	cmd.Flags().Var(&form, "format", "how to write the results: text or json")
	return cmd
}

// selftestOf checks the laws on the bundles of the inputs, and asks a server if one is named.
func selftestOf(ctx context.Context, env cli.Env, in change.Inputs, server, form string) error {
	in, err := in.Complete(ctx, env)
	if err != nil {
		return err
	}
	at, err := in.Peer(env, server)
	if err != nil {
		return err
	}
	opened, err := in.Open(ctx, env)
	if err != nil {
		return err
	}
	var results []selftest.Result
	err = opened.With(ctx, func(of planner.Input) (err error) {
		results, err = selftest.Check(ctx, of, selftest.Replacements{
			Sources: []selftest.Source{{Name: "from a server", Open: openServed}},
			Server:  at, Progress: tellProgress(env.Stderr, time.Now),
		})
		return err
	})
	if err != nil {
		return err
	}
	if err := writeSelftest(env, form, results); err != nil {
		return err
	}
	if slices.ContainsFunc(results, func(r selftest.Result) bool { return r.Status == selftest.Broken }) {
		return cli.ErrFailed
	}
	return unasked(results[len(results)-1].Server)
}

func writeSelftest(env cli.Env, form string, results []selftest.Result) error {
	if form == "text" {
		return selftest.WriteText(env.Stdout, results)
	}
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Version string            `json:"version"`
		Laws    []selftest.Result `json:"laws"`
	}{plan.Version, results})
}

// openServed serves two bundles on a port of the loopback interface, and opens them as those
// of a live server.
func openServed(ctx context.Context, base, head *bundle.Bundle) (opened selftest.Opened, err error) {
	b, h, err := server.NewSnapshots(base, head)
	if err != nil {
		return opened, err
	}
	at, err := server.Open(ctx, server.Options{Base: b, Head: h, Integration: "selftest", Unenforced: true})
	if err != nil {
		return opened, err
	}
	both, err := openLive(ctx, strings.TrimSuffix(at.URL(), "/graphql"), base, head)
	if err != nil {
		return opened, errors.Join(err, at.Close())
	}
	return selftest.Opened{Base: both.Base, Head: both.Head, BaseServer: both.BaseSide, HeadServer: both.HeadSide,
		Close: func() error {
			return errors.Join(both.BaseSide.Err(), both.HeadSide.Err(), at.Close())
		}}, nil
}

func openLive(ctx context.Context, server string, base, head *bundle.Bundle) (*live.Bundles, error) {
	var refs [2]live.Ref
	for i, b := range []*bundle.Bundle{base, head} {
		var err error
		if refs[i], err = live.ParseRef(fmt.Sprintf("%s/graphqlsha/%s", server, b.SHA256())); err != nil {
			return nil, err
		}
	}
	return live.Open(ctx, refs[0], refs[1], live.Connection{})
}
