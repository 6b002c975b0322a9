package source

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/bundler"
)

// Folders says where the four parts of a bundle are on disk: three folders, and the file of
// the GraphQL types.
type Folders struct{ Data, Resources, Schemas, GraphQL string }

// Make makes the bundle of the folders. It remembers files in the cache folder, unless that
// is "". The caller closes the bundle. Problems of files are errors of the user's making, one
// line each.
func (f Folders) Make(ctx context.Context, commit, timestamp, cache string) (*bundler.Bundled, error) {
	in := bundler.Input{Commit: commit, Timestamp: timestamp}
	for _, p := range []struct {
		flag, name string
		section    *bundler.TreePart
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
		*p.section = bundler.TreePart{Tree: bundler.Folder(dir), Dir: file, Shown: filepath.ToSlash(p.name)}
	}
	return makeBundle(ctx, in, bundler.Options{Cache: openCache(cache)})
}

// maxProblems bounds how many problems of one bundle are told.
const maxProblems = 100

// makeBundle makes a bundle and turns the problems of its files into errors.
func makeBundle(ctx context.Context, in bundler.Input, opts bundler.Options) (*bundler.Bundled, error) {
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

// openCache opens the cache in a folder, nil for "".
func openCache(dir string) *bundler.Cache {
	if dir == "" {
		return nil
	}
	return bundler.OpenCache(dir)
}
