package saas

import (
	"context"
	"slices"

	"github.com/app-sre/prcheck/integration"
)

// Watches returns the addresses of the repositories that targets are deployed from, as [integration.Watcher] does.
func Watches(ctx context.Context, query integration.QueryFunc, s Settings) ([]string, error) {
	m, err := Read(ctx, query, s)
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, f := range m.Files {
		for _, t := range f.Templates {
			out = append(out, t.URL)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
