package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/bundle/bundler"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/validator"
)

// Texts are the files that a bundle was made from, to find lines in them.
type Texts struct {
	Names validator.Names
	Read  func(s validator.Section, p bundle.Path) ([]byte, error)
}

// Texts gives the files of a reference to a checkout. Those of schemas that come
// from a bundle are not there.
func (o Opener) Texts(ctx context.Context, ref string) (Texts, error) {
	in, err := o.input(ctx, ref)
	if err != nil {
		return Texts{}, err
	}
	if dir, isFolder := strings.CutPrefix(ref, "dir:"); isFolder {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(in.Data.Dir))); err != nil || !info.IsDir() {
			return Texts{}, cli.Invalid(fmt.Errorf("reference %q: there is no folder %s in it: name a checkout, or the settings that tell where its parts are", ref, in.Data.Dir))
		}
	}
	sections := map[validator.Section]bundler.Section{
		validator.Data: in.Data, validator.Resources: in.Resources, validator.Schemas: in.Schemas, validator.GraphQL: in.GraphQL,
	}
	names, listings := validator.Names{}, map[validator.Section]*bundler.Listing{}
	for s, section := range sections {
		names[s], listings[s] = section.Shown, &bundler.Listing{}
	}
	return Texts{names, func(s validator.Section, p bundle.Path) ([]byte, error) {
		return sections[s].Text(ctx, string(p), listings[s])
	}}, nil
}

// Texts gives the files of folders.
func (f Folders) Texts() Texts { return Texts{f.Names(), f.Read} }
