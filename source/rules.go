package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/plan"
)

// fromBase begins the name of a settings file that the base revision has.
const fromBase = "base:"

// Rules are settings and what reads the files that they name. They come from a
// file, or from a revision: then so do their queries, whatever the working tree
// has.
type Rules struct {
	*integration.Settings
	Query func(path string) ([]byte, error)

	repo    *git.Repository // of the revision; nil: from a file
	path    string          // in the repository
	commit  string
	missing bool // the revision has no such file
}

// rulesOf reads settings: a file, an object, base:PATH of the revision that base
// names, or git:REV[@DIR]:PATH of any. All errors are of the user's making.
func rulesOf(ctx context.Context, name, base string) (Rules, error) {
	ref, file, ok := "", "", false
	switch {
	case IsObject(name):
		return objectRules(ctx, name)
	case strings.HasPrefix(name, fromBase):
		ref, file, ok = base, strings.TrimPrefix(name, fromBase), true
		if !strings.HasPrefix(base, "git:") {
			return Rules{}, cli.Usage(fmt.Errorf("--config %s takes a base that is a revision, git:REV, since only that has files beside the bundle", name))
		}
	case strings.HasPrefix(name, "git:"):
		ref, file, ok = strings.Cut(strings.TrimPrefix(name, "git:"), ":")
		ref = "git:" + ref
		if !ok {
			return Rules{}, cli.Usage(fmt.Errorf("--config %s names no file: give git:REV:PATH", name))
		}
	}
	if !ok {
		s, err := Settings(name)
		return Rules{Settings: s, Query: Query(s)}, err
	}
	r, err := revisionRules(ctx, ref, file)
	if err != nil && ctx.Err() == nil {
		err = cli.Invalid(fmt.Errorf("settings %s: %w", name, err))
	}
	return r, err
}

// revisionRules reads settings of a revision. When it has none, they say
// nothing: nobody has trusted any yet.
func revisionRules(ctx context.Context, ref, file string) (Rules, error) {
	rev, dir := revision(strings.TrimPrefix(ref, "git:"))
	g, err := git.OpenCommit(ctx, dir, rev)
	if err != nil {
		return Rules{}, err
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return Rules{}, err
	}
	r := Rules{Settings: &integration.Settings{}, repo: repo, path: file, commit: g.Hash()}
	r.Query = func(name string) ([]byte, error) {
		raw, err := g.ReadFile(ctx, path.Join(path.Dir(file), name), maxQuery)
		if err == nil && len(raw) > maxQuery {
			err = fmt.Errorf("%s is larger than 1 MiB", name)
		}
		return raw, err
	}
	raw, err := g.ReadFile(ctx, file, integration.MaxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		r.missing = true
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if r.Settings, err = integration.ReadSettings(short(r.commit)+":"+file, raw); err != nil {
		return r, err
	}
	r.File = filepath.Join(strings.TrimPrefix(Place(repo), "@"), filepath.FromSlash(file))
	return r, nil
}

// located says of which revision a mistake in the settings is.
func (r Rules) located(err error) error {
	var mistake *integration.SettingsError
	if r.repo == nil || !errors.As(err, &mistake) {
		return err
	}
	return fmt.Errorf("settings of %s: %w", short(r.commit), err)
}

// With returns the opener of a user for what these rules say about checkouts.
func (r Rules) With(o Opener) Opener {
	o.Settings = r.Settings
	if r.repo != nil {
		o.Root = r.repo.Root()
	}
	return o
}

// PlanRules reads the settings that a plan was made with: those that are named,
// or else the file here if it is the one, or that of the plan's base.
func PlanRules(ctx context.Context, name string, p *plan.Plan) (Rules, error) {
	r, err := rulesOf(ctx, name, p.Base.Ref)
	if name != "" || err == nil && r.Digest() == p.Config || !strings.HasPrefix(p.Base.Ref, "git:") {
		return r, err
	}
	if base, trouble := rulesOf(ctx, fromBase+DefaultSettings, p.Base.Ref); trouble == nil && base.Digest() == p.Config {
		return base, nil
	}
	return r, err
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// Place is the end of a git reference that names the checkout, "" for where we
// are.
func Place(repo *git.Repository) string {
	if repo.IsCurrent() {
		return ""
	}
	return "@" + repo.Root()
}
