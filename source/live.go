package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/live"
)

// IsLive reports whether a reference is one to a bundle of a live server.
func IsLive(ref string) bool { return live.IsRef(ref) }

// Live opens both sides of a change on one live server.
func (o Opener) Live(ctx context.Context, base, head string) (*live.Bundles, error) {
	from, to, err := liveRefs(base, head)
	if err != nil {
		return nil, err
	}
	both, err := live.Open(ctx, from, to, live.Connection{Authorization: o.Authorization})
	if err != nil {
		return nil, LiveError(err)
	}
	for _, note := range both.Limitations() {
		if o.Note != nil {
			o.Note(note)
		}
	}
	return both, nil
}

// LiveSide returns a bundle of a live server that answers queries. The reference is that of
// the flag --bundle.
func (o Opener) LiveSide(ref string) (*live.BundleClient, error) {
	r, err := live.ParseRef(ref)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--bundle: %w", err))
	}
	return live.NewSide(r, live.Connection{Authorization: o.Authorization}), nil
}

// liveRefs reads the references of both sides, which must be on one server.
func liveRefs(base, head string) (from, to live.Ref, err error) {
	flags := map[string]string{"base": base, "head": head}
	for _, flag := range []string{"base", "head"} {
		switch {
		case flags[flag] == "":
			return from, to, cli.Usage(fmt.Errorf("--%s is required: the bundle on the same server", flag))
		case !live.IsRef(flags[flag]):
			return from, to,
				cli.Usage(fmt.Errorf("--%s is not on a live server, and the other side is: give both as bundle files, or both as "+
					"bundles of one server", flag))
		}
	}
	if from, err = live.ParseRef(base); err != nil {
		return from, to, cli.Usage(fmt.Errorf("--base: %w", err))
	}
	if to, err = live.ParseRef(head); err != nil {
		return from, to, cli.Usage(fmt.Errorf("--head: %w", err))
	}
	if from.Server != to.Server {
		err = cli.Usage(fmt.Errorf("base is on %s and head on %s: one server must have both bundles, since the changes "+
			"come from its /diff; load both there", from.Server, to.Server))
	}
	return from, to, err
}

// LiveError marks an error of a live server as one of the user when the server does not have
// the bundle.
func LiveError(err error) error {
	var unknown *live.UnknownBundleError
	if errors.As(err, &unknown) {
		return cli.Invalid(err)
	}
	return err
}
