package change

import (
	"context"
	"path"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/world"
)

// Programs returns a function that digests the files that commands may use; see
// [rules.Workplace.Programs]. These are files of head, which may be nil: then they are the files
// around the settings. Nothing is read before it is called.
func Programs(ctx context.Context, open source.Opener, s source.OpenedSettings, head func() (*world.Tree, error),
	own source.Own) func(settings.Programs) (string, error) {
	at, err := workplace(ctx, open, s, head, own)
	if err != nil {
		return func(settings.Programs) (string, error) { return "", err }
	}
	return at.Programs()
}

// workplace returns the repository whose files commands may use.
func workplace(ctx context.Context, open source.Opener, settings source.OpenedSettings,
	head func() (*world.Tree, error), own source.Own) (rules.Workplace, error) {
	at, err := source.FindWorkplace(ctx, settings.Folder())
	if err != nil {
		return rules.Workplace{}, err
	}
	at.Own = own
	return rules.Workplace{
		Files: source.Files(at.Root),
		List: func() ([]rules.ProgramFile, error) {
			if head != nil {
				if t, err := head(); err != nil || t.Root() == at.Root {
					return filesOf(t), err
				}
			}
			if at.IsRepository() {
				t, err := open.World(ctx, "dir:"+at.Root, own, world.Keeper{})
				return filesOf(t), err
			}
			found, err := at.List(ctx)
			files := make([]rules.ProgramFile, 0, len(found))
			for _, f := range found {
				files = append(files, rules.ProgramFile{Path: f})
			}
			return files, err
		},
	}, nil
}

// filesOf lists the files of a world. What lies behind a link is listed by the path through the
// link as well.
func filesOf(t *world.Tree) []rules.ProgramFile {
	if t == nil {
		return nil
	}
	behind, _ := t.Behind()
	files := make([]rules.ProgramFile, 0, len(t.Files()))
	for _, f := range t.Files() {
		id := f.Mode + " " + f.ID
		files = append(files, rules.ProgramFile{Path: f.Path, ID: id})
		for _, path := range behind[f.Path] {
			files = append(files, rules.ProgramFile{Path: path, ID: "behind a link: " + id})
		}
	}
	return files
}

// Data tells which files of a repository are no programs: those that a bundle holds, and the
// settings, which are compared key by key.
type Data struct {
	Settings source.OpenedSettings
	Bundles  []*bundle.Bundle
	Refs     []string // references to the bundles
	Live     bool     // the bundles are those of a server, which does not list all files
}

// In returns a function that reports whether a file of the repository with this root is data.
func (d Data) In(root string) func(path string) bool {
	at := d.Settings.Checkout()
	settings := d.settingsPath(root)
	folders := d.checkouts(root)
	return func(name string) bool {
		if name == settings {
			return true
		}
		for _, folder := range folders {
			if below, ok := strings.CutPrefix("/"+name, folder); ok && d.isPartOf(at, below) {
				return true
			}
		}
		return false
	}
}

// settingsPath returns the path of the settings in the repository, "" when they lie elsewhere.
func (d Data) settingsPath(root string) string {
	if r := d.Settings.Revision; r != nil {
		return r.Path
	}
	if p, inside := git.PathIn(root, d.Settings.File); inside && d.Settings.File != "" {
		return p
	}
	return ""
}

// checkouts lists the folders of the repository in which data may lie: its root, and folders
// that are bundled. They begin and end with a slash.
func (d Data) checkouts(root string) []string {
	out := []string{"/"}
	for _, ref := range d.Refs {
		if dir, ok := strings.CutPrefix(ref, "dir:"); ok {
			if p, inside := git.PathIn(root, dir); inside && p != "." {
				out = append(out, "/"+p+"/")
			}
		}
	}
	return out
}

// isPartOf reports whether a path of a checkout is a part of one of the bundles.
func (d Data) isPartOf(at settings.Checkout, name string) bool {
	if name == path.Clean(at.GraphQL) || at.FromBundle() && name == path.Clean(at.Schemas) {
		return true
	}
	for _, part := range []struct {
		folder string
		get    func(*bundle.Bundle, bundle.Path) (*bundle.File, bool)
	}{
		{at.Data, (*bundle.Bundle).Datafile}, {at.Resources, (*bundle.Bundle).Resource},
		{at.Schemas, (*bundle.Bundle).JSONSchema},
	} {
		below, ok := strings.CutPrefix(name, path.Clean(part.folder)+"/")
		if ok && d.Live {
			return true
		}
		for _, b := range d.Bundles {
			if _, known := part.get(b, bundle.Path("/"+below)); ok && known {
				return true
			}
		}
	}
	return false
}
