package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/bundler"
	"github.com/app-sre/prcheck/qontract/validator"
)

// Texts are the files that a bundle was made from, for finding lines in them.
type Texts struct {
	Names validator.Names // what findings call the files
	// Read returns the text of a file; nil: the files are not at hand.
	Read func(s validator.Section, p bundle.Path) ([]byte, error)
}

// Texts returns the files of a reference. Only a checkout has files; of another reference they
// are the zero Texts. When the schemas of a checkout come from a bundle, they have no files.
func (o Opener) Texts(ctx context.Context, ref string) (Texts, error) {
	if !IsCheckout(ref) {
		return Texts{}, nil
	}
	in, err := o.input(ctx, ref)
	if err != nil {
		return Texts{}, err
	}
	if dir, isFolder := strings.CutPrefix(ref, "dir:"); isFolder {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(in.Data.Dir))); err != nil || !info.IsDir() {
			return Texts{},
				cli.Invalid(fmt.Errorf("reference %q: there is no folder %s in it: name a checkout, or the settings that tell "+
					"where its parts are", ref, in.Data.Dir))
		}
	}
	sections := map[validator.Section]bundler.TreePart{
		validator.Data: in.Data, validator.Resources: in.Resources, validator.Schemas: in.Schemas,
		validator.GraphQL: in.GraphQL,
	}
	names, listings := validator.Names{}, map[validator.Section]*bundler.Listing{}
	for s, section := range sections {
		names[s], listings[s] = section.Shown, &bundler.Listing{}
	}
	return Texts{names, func(s validator.Section, p bundle.Path) ([]byte, error) {
		return sections[s].Text(ctx, string(p), listings[s])
	}}, nil
}

// Locate fills in the lines of findings in head, unless the files are not at hand.
func (t Texts) Locate(r *validator.Report, head *bundle.Bundle) {
	if t.Read != nil {
		r.Locate(head, t.Read)
	}
}

// Texts returns the files of the folders.
func (f Folders) Texts() Texts { return Texts{f.Names(), f.Read} }

// maxText is the size in bytes up to which a file is read to find the lines of findings.
const maxText = 16 << 20

// Names returns what findings call the files of the folders. A part that is "" is missing.
func (f Folders) Names() validator.Names {
	return validator.Names{
		validator.Data: f.Data, validator.Resources: f.Resources,
		validator.Schemas: f.Schemas, validator.GraphQL: f.GraphQL,
	}
}

// Read returns the text of a file. No link leads out of the folder of its section.
func (f Folders) Read(s validator.Section, p bundle.Path) ([]byte, error) {
	dir := f.Names()[s]
	name := "." + filepath.FromSlash(string(p))
	if s == validator.GraphQL {
		dir, name = filepath.Dir(dir), filepath.Base(dir)
	}
	if f.Names()[s] == "" {
		return nil, errors.New("the checkout has no such part")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return nil, fmt.Errorf("%s is no file of at most 16 MiB", p)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxText))
}
