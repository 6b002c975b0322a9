package planner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/planner/selftest"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/live"
	"github.com/app-sre/prcheck/qontract/server"
)

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
	return live.Open(ctx, refs[0], refs[1], live.Access{})
}
