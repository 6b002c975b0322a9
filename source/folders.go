package source

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/app-sre/prcheck/bundle/bundler"
	"github.com/app-sre/prcheck/internal/cli"
)

// Folders say where the four parts of a bundle are on disk.
type Folders struct{ Data, Resources, Schemas, GraphQL string }

// Make makes the bundle of the folders, with a cache in a folder unless that is
// "". The caller closes it. Problems of files are errors of the input, one line
// each.
func (f Folders) Make(ctx context.Context, commit, timestamp, cache string) (*bundler.Bundled, error) {
	in := bundler.Input{Commit: commit, Timestamp: timestamp}
	for _, p := range []struct {
		flag, name string
		section    *bundler.Section
	}{
		{"data", f.Data, &in.Data}, {"resources", f.Resources, &in.Resources},
		{"schemas", f.Schemas, &in.Schemas}, {"graphql", f.GraphQL, &in.GraphQL},
	} {
		if p.name == "" {
			return nil, cli.Usage(fmt.Errorf("--%s is required: where that part of the checkout is", p.flag))
		}
		dir, file := p.name, "."
		if p.flag == "graphql" {
			dir, file = filepath.Split(filepath.Clean(p.name))
			dir = filepath.Clean("./" + dir)
			if filepath.IsAbs(p.name) {
				dir = filepath.Dir(p.name)
			}
		}
		*p.section = bundler.Section{Tree: bundler.Folder(dir), Dir: file, Shown: filepath.ToSlash(p.name)}
	}
	return bundled(ctx, in, bundler.Options{Cache: cached(cache)})
}

// maxProblems is how many problems of one bundle are told.
const maxProblems = 100

// bundled makes a bundle and turns what is wrong with files into errors.
func bundled(ctx context.Context, in bundler.Input, opts bundler.Options) (*bundler.Bundled, error) {
	b, found, err := bundler.Make(ctx, in, opts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(found) == 0 {
		return b, cli.Invalid(err)
	}
	errs := make([]error, 0, maxProblems+1)
	for i, p := range found {
		if i == maxProblems {
			errs = append(errs, cli.Invalid(fmt.Errorf("%d more problems", len(found)-i)))
			break
		}
		errs = append(errs, cli.Invalid(p))
	}
	return nil, errors.Join(append(errs, cli.Invalid(err))...)
}

// cached opens a cache in a folder; there is none for "".
func cached(dir string) *bundler.Cache {
	if dir == "" {
		return nil
	}
	return bundler.OpenCache(dir)
}
