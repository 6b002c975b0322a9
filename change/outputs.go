package change

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/source"
)

// Paths are the files and folders that a command reads and writes. "" and objects are left
// out, and what lies outside of every checkout.
type Paths struct {
	Read    []string // what earlier jobs have written
	Files   []string // that are written
	Folders []string // in which is written
}

// CheckPaths returns an error before anything is done if a path has a symbolic link that is
// not followed. In a job it also returns an error if the repository tracks what is read or
// written: a file or folder itself, or something else in the folder of a file. The author of
// the change could pass that off as what a job has written.
func CheckPaths(ctx context.Context, env cli.Env, p Paths) error {
	for _, name := range slices.Concat(p.Read, p.Files, p.Folders) {
		if _, err := safepath.Stat(name); name != "" && errors.Is(err, safepath.ErrLink) {
			return cli.Invalid(err)
		}
	}
	if !InJob(env.Getenv) {
		return nil
	}
	return refuseTracked(ctx, p)
}

func refuseTracked(ctx context.Context, p Paths) error {
	below := map[string][]string{} // paths by the root of their checkout
	add := func(name string, parent bool) {
		if name == "" || source.IsObject(name) {
			return
		}
		root, rel, ok := safepath.Checkout(name)
		if !ok {
			return
		}
		rel = filepath.ToSlash(rel)
		if folder := path.Dir(rel); parent && folder != "." {
			rel = folder
		}
		below[root] = append(below[root], rel)
	}
	for _, name := range slices.Concat(p.Read, p.Folders) {
		add(name, false)
	}
	for _, name := range p.Files {
		add(name, true)
	}
	for root, paths := range below {
		repo, err := git.FindRepository(ctx, root)
		if err != nil {
			return invalid(ctx, err)
		}
		tracked, err := repo.Tracked(ctx, paths...)
		if err != nil {
			return invalid(ctx, err)
		}
		if tracked != "" {
			return cli.Invalid(fmt.Errorf("the repository has %q, where this job keeps its own files: take it out of the "+
				"repository, or name another place", tracked))
		}
	}
	return nil
}
