package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/report"
)

// Contents returns what a report shows of the changed files, without the values that a native says
// are hidden. An error means that it is not known what to hide, so nothing may be shown.
func Contents(ctx context.Context, natives []integration.DryRunner,
	base, head *bundle.Bundle) (*report.Contents, error) {
	d := bundle.Compare(base, head)
	var files []string
	for _, c := range d.Datafiles {
		files = append(files, string(c.Path))
	}
	var hidden report.Hidden
	for _, side := range []struct {
		of  *bundle.Bundle
		out *map[string][]string
	}{{base, &hidden.Base}, {head, &hidden.Head}} {
		var err error
		if *side.out, err = hiddenIn(ctx, natives, side.of, files); err != nil {
			return nil, err
		}
	}
	return report.NewContents(d, hidden), nil
}

// hiddenIn returns the hidden values of some datafiles of a bundle.
func hiddenIn(ctx context.Context, natives []integration.DryRunner, b *bundle.Bundle,
	files []string) (out map[string][]string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		return nil, err
	}
	query := affected.PartialQuerier(gql.New(b, schema))
	out = map[string][]string{}
	for _, n := range natives {
		found, err := hiddenBy(ctx, n, query, files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name(), err)
		}
		for file, pointers := range found {
			out[file] = append(out[file], pointers...)
		}
	}
	return out, nil
}

// hiddenBy asks one native. A panic is an error without its message, which may hold a value.
func hiddenBy(ctx context.Context, n integration.DryRunner, query integration.QueryFunc,
	files []string) (out map[string][]string, err error) {
	h, ok := n.(integration.Hider)
	if !ok {
		return nil, nil
	}
	defer func() {
		if recover() != nil {
			err = errors.New("it panicked while it looked for secrets in the data")
		}
	}()
	return h.Hidden(ctx, query, files)
}
