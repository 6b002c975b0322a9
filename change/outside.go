package change

import (
	"context"
	"path"
	"strings"

	"github.com/app-sre/prcheck/owners"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// Two are the sides of a change: references, and the bundles that were made of them in the folders of a checkout.
type Two struct {
	Base, Head     string
	InBase, InHead *bundle.Bundle
	Checkout       settings.Checkout
}

// Outside returns the changed files that are no part of what the bundles say, with their texts, and what reads the
// files of base. What reads is nil if the references are not two sides of one repository: then nobody knows of such
// files. A file is left out only if each side that has it has it in its bundle.
func (t Two) Outside(ctx context.Context) ([]owners.Outside, func(path string) ([]byte, error), error) {
	c, err := source.Compare(ctx, t.Base, t.Head, "")
	if c == nil || err != nil {
		return nil, nil, err
	}
	inBase, inHead := t.holds(c, t.Base, t.InBase), t.holds(c, t.Head, t.InHead)
	var out []owners.Outside
	for _, path := range c.Changed {
		if (c.New[path] || inBase(path)) && (c.Gone[path] || inHead(path)) {
			continue
		}
		o := owners.Outside{Path: path}
		if !c.New[path] {
			o.Old = textOf(c.ReadBase, path, t.Base)
		}
		if !c.Gone[path] {
			o.New = textOf(c.ReadHead, path, t.Head)
		}
		out = append(out, o)
	}
	return out, c.ReadBase, nil
}

// OwnersSettings returns what the settings of a revision say about who must approve a change. Other references have no
// settings: everything is asked about.
func OwnersSettings(ctx context.Context, base string) (settings.Owners, error) {
	if _, _, isRevision := source.ParseRevision(base); !isRevision {
		return settings.Owners{}, nil
	}
	s, err := source.OpenSettings(ctx, settings.FromBase+settings.FileName, base)
	if err != nil {
		return settings.Owners{}, err
	}
	return s.Owners(), nil
}

// holds returns a function that reports whether the bundle of a reference has a file of the repository.
func (t Two) holds(c *source.Comparison, ref string, b *bundle.Bundle) func(name string) bool {
	folder, isInside := c.PathOf(source.RootOf(ref))
	return func(name string) bool {
		if !isInside {
			return false
		}
		for _, part := range []struct {
			folder string
			get    func(*bundle.Bundle, bundle.Path) (*bundle.File, bool)
		}{{t.Checkout.Data, (*bundle.Bundle).Datafile}, {t.Checkout.Resources, (*bundle.Bundle).Resource}} {
			below, ok := strings.CutPrefix(name, strings.TrimPrefix(path.Join("/", folder, part.folder)+"/", "/"))
			if _, isThere := part.get(b, bundle.Path("/"+below)); ok && isThere && !settings.IsOutside(part.folder) {
				return true
			}
		}
		return false
	}
}

// textOf returns the text of a file. One that cannot be read, or is too large, has another text in each revision, so
// that every push loses its approval.
func textOf(read func(string) ([]byte, error), name, revision string) []byte {
	text, err := read(name)
	if err != nil || len(text) > settings.MaxBytes {
		return []byte("the file of " + revision)
	}
	return append([]byte{}, text...)
}
