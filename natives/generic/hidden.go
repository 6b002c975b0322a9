package generic

import (
	"context"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloud"
)

// hidden returns the values of bodies that no output may show: the secrets that somebody wrote into
// them. Specifications are read only if one of the files is a resource.
func (g *generic) hidden(ctx context.Context, query integration.QueryFunc,
	files []string) (map[string][]string, error) {
	if isKnown, err := cloud.IsKnown(ctx, query); err != nil || !isKnown {
		return nil, err
	}
	paths, err := cloud.Paths(ctx, query)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(files, func(f string) bool { return slices.Contains(paths, f) }) {
		return nil, nil
	}
	m, err := g.reader.Read(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("looking for secrets in the data: %w", err)
	}
	out := map[string][]string{}
	for _, r := range m.Resources {
		if slices.Contains(files, r.File) {
			out[r.File] = r.Hidden()
		}
	}
	return out, nil
}
