package change

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/world"
)

// repositoryRoot returns the folder of the repository that base and head are of, "" if they are
// not of a checkout.
func (c *Change) repositoryRoot(in Inputs) string {
	switch root := c.settings.Root(); {
	case root != "":
		return root
	case source.IsCheckout(in.Base):
		return source.RootOf(in.Base)
	}
	return ""
}

// findEdits finds what head edits of the rules by which it is planned.
func (c *Change) findEdits(ctx context.Context, in Inputs) (rules.Edits, error) {
	base := rules.SideSettings{Settings: c.Settings}
	if r := c.settings.Revision; r != nil {
		base.Path, base.Commit, base.Missing = r.Path, r.Commit, r.Missing
	} else if !c.settings.IsObject {
		base.Own = c.settings.File
	}
	return rules.FindEdits(rules.Input{
		IsData:   c.data(in).In(c.repositoryRoot(in)),
		Settings: base, InJob: in.inJob, CIFile: in.ciFile,
		Named: c.namedFiles(ctx, in), Natives: in.Natives, Reads: c.reads,
		Compare: func() (*rules.Comparison, error) {
			return c.compare(ctx, in)
		},
		CanPlan: func(head *settings.Settings, readQuery func(path string) ([]byte, error)) error {
			return planner.Check(planner.Input{Base: c.Head, Head: c.Head, Settings: head, Natives: in.Natives,
				ReadQuery: readQuery})
		},
	})
}

// compare compares the files of base and head; nil if they are not both of one checkout. Whole
// trees are read only if they are needed.
func (c *Change) compare(ctx context.Context, in Inputs) (*rules.Comparison, error) {
	found, err := source.Compare(ctx, in.Base, in.Head, c.settings.Root())
	if err != nil || found == nil {
		return nil, err
	}
	out := &rules.Comparison{
		Changed: found.Changed, New: found.New, Gone: found.Gone, ReadBase: found.ReadBase, ReadHead: found.ReadHead,
		PathOf: found.PathOf,
		Head:   c.Worlds.Head, Behind: c.behind,
	}
	if !strings.HasPrefix(in.Head, "dir:") {
		return out, nil
	}
	base, head, err := c.Worlds.Both() // git does not tell of every edit
	if err != nil {
		return nil, err
	}
	out.Changed, out.New, out.Gone = world.Diff(base, head), map[string]bool{}, map[string]bool{}
	for _, p := range out.Changed {
		_, _, was := base.Lookup(p)
		_, _, is := head.Lookup(p)
		out.New[p], out.Gone[p] = !was, !is
	}
	return out, nil
}

// behind returns, for each file of either side, the paths that lead to it through links. What is
// found in a commit is remembered in the cache.
func (c *Change) behind() (paths map[string][]string, ok bool, err error) {
	paths, ok = map[string][]string{}, true
	for id, tree := range map[string]func() (*world.Tree, error){c.input.BaseFiles.Tree: c.Worlds.Base,
		c.input.HeadFiles.Tree: c.Worlds.Head} {
		found, isWhole, err := c.open.Behind(id, tree)
		if err != nil {
			return nil, false, err
		}
		ok = ok && isWhole
		for target, list := range found {
			paths[target] = append(paths[target], list...)
		}
	}
	return paths, ok, nil
}

// namedFiles returns the paths of files of either side that the words of the command of an
// integration name, as base defines it. All commands are looked at together.
func (c *Change) namedFiles(ctx context.Context, in Inputs) func(name string) []string {
	find := sync.OnceValue(func() map[string][]string {
		candidates := c.candidates(c.startFolder(c.repositoryRoot(in)))
		var all []string
		for _, paths := range candidates {
			all = append(all, paths...)
		}
		slices.Sort(all)
		all = slices.Compact(all)
		onHead, err := c.open.HasFiles(ctx, in.Head, all)
		if err != nil {
			return candidates // then whoever asks finds out
		}
		onBase, err := c.open.HasFiles(ctx, in.Base, all)
		if err != nil {
			return candidates
		}
		for name, paths := range candidates {
			candidates[name] = slices.DeleteFunc(paths, func(p string) bool {
				i, _ := slices.BinarySearch(all, p)
				return !onHead[i] && !onBase[i]
			})
		}
		return candidates
	})
	return func(name string) []string { return find()[name] }
}

// candidates returns, for each integration, the paths in the repository that the words of its
// command may stand for. Tasks start in a folder of the repository.
func (c *Change) candidates(folder string) map[string][]string {
	out := map[string][]string{}
	for _, b := range []*bundle.Bundle{c.Head, c.Base} { // base's counts
		list, err := integration.List(b, c.Settings)
		if err != nil {
			return nil
		}
		for _, d := range list {
			if d.Check == nil {
				continue
			}
			out[d.Name] = nil
			for _, word := range append(slices.Clone(c.Settings.For(d.Name).Exec.Argv), strings.Fields(d.Check.Cmd)...) {
				if at := path.Join(folder, word); !path.IsAbs(word) && at != "." && !strings.HasPrefix(at, "..") &&
					!strings.Contains(word, "{") {
					out[d.Name] = append(out[d.Name], at)
				}
			}
		}
	}
	return out
}

// reads returns which files the runs of an integration read.
func (c *Change) reads(name string) rules.Reads {
	b := c.seen.Beyond(name)
	return rules.Reads{Paths: b.Files, All: b.AllFiles}
}

// startFolder returns the folder of a repository in which tasks start.
func (c *Change) startFolder(root string) string {
	if r := c.settings.Revision; r != nil {
		return path.Dir(r.Path)
	}
	p, _ := git.PathIn(root, c.settings.Folder())
	return p
}
