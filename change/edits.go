package change

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/rules"
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
	base := rules.Settings{Settings: c.Settings}
	if r := c.settings.Revision; r != nil {
		base.Path, base.Commit, base.Missing = r.Path, r.Commit, r.Missing
	} else if !c.settings.IsObject {
		base.Own = c.settings.File
	}
	return rules.FindEdits(rules.Input{
		IsData:   c.data(in).In(c.repositoryRoot(in)),
		Settings: base, InJob: in.inJob, CIFile: in.ciFile,
		Words: c.commandWords(), Folder: c.startFolder(c.repositoryRoot(in)), Reads: c.reads,
		Compare: func() (*rules.Comparison, error) {
			return c.compare(ctx, in)
		},
		CanPlan: func(head *integration.Settings, readQuery func(path string) ([]byte, error)) error {
			return planner.Check(planner.Input{Base: c.Head, Head: c.Head, Settings: head, Natives: Natives(), ReadQuery: readQuery})
		},
	})
}

// compare compares the files of base and head; nil if they are not both of one checkout.
func (c *Change) compare(ctx context.Context, in Inputs) (*rules.Comparison, error) {
	found, err := source.Compare(ctx, in.Base, in.Head, c.settings.Root())
	if err != nil || found == nil {
		return nil, err
	}
	out := &rules.Comparison{Changed: found.Changed, ReadBase: found.ReadBase, ReadHead: found.ReadHead, PathOf: found.PathOf}
	if len(out.Changed) == 0 && !strings.HasPrefix(in.Head, "dir:") {
		return out, nil
	}
	if out.Base, out.Head, err = c.Worlds.Both(); err != nil {
		return nil, err
	}
	if strings.HasPrefix(in.Head, "dir:") { // git does not tell of every edit
		out.Changed = world.Diff(out.Base, out.Head)
	}
	return out, nil
}

// commandWords returns the words of the command of an integration, as base defines it.
func (c *Change) commandWords() func(name string) []string {
	definitions := map[string]integration.Definition{}
	for _, b := range []*bundle.Bundle{c.Head, c.Base} { // base's counts
		list, err := c.Settings.List(b)
		if err != nil {
			return nil
		}
		for _, d := range list {
			if d.Check != nil {
				definitions[d.Name] = d
			}
		}
	}
	return func(name string) []string {
		words := slices.Clone(c.Settings.For(name).Exec.Argv)
		if d, ok := definitions[name]; ok {
			words = append(words, strings.Fields(d.Check.Cmd)...)
		}
		return words
	}
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
