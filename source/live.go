package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/live"
)

// authorization is the variable of the environment with the value of the
// Authorization header for live servers.
const authorization = "PRCHECK_AUTHORIZATION"

// IsLive tells whether a reference is meant for a live server.
func IsLive(ref string) bool { return live.Is(ref) }

// openLive reads both bundles from a live server.
func (c *Change) openLive(ctx context.Context, env cli.Env, in Inputs) error {
	from, to, err := liveRefs(in.Base, in.Head)
	if err != nil {
		return err
	}
	both, err := openLive(ctx, env, from, to)
	if err != nil {
		return err
	}
	if !both.Lists(integration.DefinitionSchema) {
		return cli.Invalid(fmt.Errorf("%s lists no datafile of schema %s, so there are no integrations to plan for", from.Server, integration.DefinitionSchema))
	}
	c.Base, c.Head, c.live = both.Base, both.Head, both
	c.input.BaseRef, c.input.HeadRef = from.String(), to.String()
	c.input.BaseServer, c.input.HeadServer = both.BaseSide, both.HeadSide
	return nil
}

// Pair opens both bundles of a change, also from a live server.
func Pair(ctx context.Context, env cli.Env, base, head string) (*bundle.Bundle, *bundle.Bundle, error) {
	if !live.Is(base) && !live.Is(head) {
		return In(env).Pair(ctx, base, head)
	}
	from, to, err := liveRefs(base, head)
	if err != nil {
		return nil, nil, err
	}
	both, err := openLive(ctx, env, from, to)
	if err != nil {
		return nil, nil, err
	}
	return both.Base, both.Head, nil
}

// LiveSide returns what answers over a bundle of a live server.
func LiveSide(env cli.Env, ref string) (*live.Side, error) {
	r, err := live.ParseRef(ref)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--bundle: %w", err))
	}
	return live.NewSide(r, live.Options{Authorization: env.Getenv(authorization)}), nil
}

func liveRefs(base, head string) (from, to live.Ref, err error) {
	flags := map[string]string{"base": base, "head": head}
	for _, flag := range []string{"base", "head"} {
		switch {
		case flags[flag] == "":
			return from, to, cli.Usage(fmt.Errorf("--%s is required: the bundle on the same server", flag))
		case !live.Is(flags[flag]):
			return from, to, cli.Usage(fmt.Errorf("--%s is not on a live server, and the other side is: give both as bundle files, or both as bundles of one server", flag))
		}
	}
	if from, err = live.ParseRef(base); err != nil {
		return from, to, cli.Usage(fmt.Errorf("--base: %w", err))
	}
	if to, err = live.ParseRef(head); err != nil {
		return from, to, cli.Usage(fmt.Errorf("--head: %w", err))
	}
	return from, to, nil
}

func openLive(ctx context.Context, env cli.Env, from, to live.Ref) (*live.Bundles, error) {
	if from.Server != to.Server {
		return nil, cli.Usage(fmt.Errorf("base is on %s and head on %s: one server must have both bundles, since the changes come from its /diff; load both there", from.Server, to.Server))
	}
	both, err := live.Open(ctx, from, to, live.Options{Authorization: env.Getenv(authorization)})
	if err != nil {
		return nil, LiveError(err)
	}
	for _, note := range both.Unproven() {
		_, _ = fmt.Fprintln(env.Stderr, "note: "+note) // not worth stopping for
	}
	return both, nil
}

// trouble is an error because of which a live server gave no answer. What was
// decided without the answer is not worth keeping.
func (c *Change) trouble() error {
	if c.live == nil {
		return nil
	}
	if err := c.live.BaseSide.Trouble(); err != nil {
		return LiveError(err)
	}
	return LiveError(c.live.HeadSide.Trouble())
}

// LiveError marks an error of a live server as one of the input when the server
// does not have the bundle.
func LiveError(err error) error {
	var unknown *live.UnknownBundleError
	if errors.As(err, &unknown) {
		return cli.Invalid(err)
	}
	return err
}
