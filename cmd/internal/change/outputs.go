package change

import (
	"context"
	"fmt"
	"path"
	"path/filepath"

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

// RefuseTracked returns an error if the repository tracks what a job reads or writes: a file
// or folder itself, or something else in the folder of a file. The author of the change could
// take it for what a job has written. Outside of a job there is no error.
func RefuseTracked(ctx context.Context, env cli.Env, p Paths) error {
	if !InJob(env.Getenv) {
		return nil
	}
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
	for _, name := range append(p.Read, p.Folders...) {
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
			return cli.Invalid(fmt.Errorf("the repository has %q, where this job keeps its own files: take it out of the repository, or name another place", tracked))
		}
	}
	return nil
}
