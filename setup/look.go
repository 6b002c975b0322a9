package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// CIFile is the file with the pipeline of a project of GitLab.
const CIFile = ".gitlab-ci.yml"

// A Kind says whose integrations a repository defines.
type Kind int

// The kinds of repositories.
const (
	Unknown   Kind = iota // it has datafiles that cannot be read
	Empty                 // it defines no integration
	Own                   // its integrations are programs of its own
	Reconcile             // its integrations are those of qontract-reconcile
)

// String returns the kind as words for people.
func (k Kind) String() string {
	return [...]string{"a repository whose datafiles cannot be read", "a repository without integrations",
		"a repository with programs of its own", "a repository for qontract-reconcile"}[k]
}

// A Repository is what a checkout has that matters to prcheck.
type Repository struct {
	Kind        Kind
	Definitions []integration.Definition
	Checkout    settings.Checkout // where the parts of a bundle are
	Host        string            // of the remote origin; "" if there is none

	root      string
	head      *bundle.Bundle // nil if it cannot be made
	trouble   error          // why it cannot be made
	settings  *source.OpenedSettings
	hasPart   map[string]bool // by the path of a part
	queries   map[string]bool // names of integrations that have a file in the folder queries
	built     []string        // folders that git ignores and that programs often need
	isCommand func(name string) bool
}

// Options are what Look needs beside the folder.
type Options struct {
	Open source.Opener
	// FindProgram returns an error unless a program is in the PATH of the user.
	FindProgram func(name string) error
}

// Look looks at the checkout that a folder lies in. An error says that there is no checkout,
// or that the settings that it has cannot be read.
func Look(ctx context.Context, dir string, o Options) (*Repository, error) {
	found, err := git.FindRepository(ctx, dir)
	if err != nil {
		return nil, err
	}
	r := &Repository{root: found.Root(), Host: found.RemoteHost(ctx), hasPart: map[string]bool{},
		queries: map[string]bool{}}
	if err := r.readSettings(); err != nil {
		return nil, err
	}
	r.findParts()
	if r.built, err = source.FindBuilt(ctx, r.root); err != nil {
		return nil, err
	}
	open := o.Open
	open.Settings, open.Root = r.bundleSettings(), ""
	r.head, r.trouble = open.Unchecked(ctx, "dir:"+r.root, nil)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r.head != nil {
		if r.Definitions, err = integration.List(r.head, open.Settings); err != nil {
			r.trouble = err
		}
	}
	r.isCommand = func(name string) bool { return r.has(name) || o.FindProgram(name) == nil }
	r.Kind = kindOf(r.Definitions, r.isCommand)
	if r.trouble != nil && r.hasPart[r.Checkout.Data] {
		r.Kind = Unknown
	}
	for _, d := range r.Definitions {
		r.queries[d.Name] = isPlain(d.Name) && r.isFile(queryFile(d.Name))
	}
	return r, nil
}

// readSettings reads the settings that the checkout has.
func (r *Repository) readSettings() error {
	name := filepath.Join(r.root, settings.FileName)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file, but a folder, a link or something else: move it away", settings.FileName)
	}
	rules, err := source.ReadSettings(name)
	if err != nil {
		return err
	}
	r.settings = &source.OpenedSettings{Settings: rules, ReadQuery: source.QueryReader(rules)}
	r.Checkout = rules.Checkout()
	return nil
}

// besides are folders in which schemas and GraphQL types may be when the settings do not say
// it: the checkout itself, and a checkout of schemas in it or beside it.
var besides = []string{"", "qontract-schemas/", "../qontract-schemas/"}

// findParts finds the parts of a bundle in the checkout.
func (r *Repository) findParts() {
	if r.settings == nil {
		r.Checkout = (&settings.Settings{}).Checkout()
		for _, beside := range besides {
			at := settings.Checkout{Data: r.Checkout.Data, Resources: r.Checkout.Resources, Schemas: beside + "schemas",
				GraphQL: beside + "graphql-schemas/schema.yml"}
			if r.has(at.Schemas) && r.has(at.GraphQL) {
				r.Checkout = at
				break
			}
		}
	}
	for _, part := range []string{r.Checkout.Data, r.Checkout.Resources, r.Checkout.Schemas, r.Checkout.GraphQL} {
		r.hasPart[part] = r.has(part)
	}
}

// bundleSettings returns the settings of the checkout, or those that hold where its parts
// are.
func (r *Repository) bundleSettings() *settings.Settings {
	if r.settings != nil {
		return r.settings.Settings
	}
	text := "version: 1\n" + checkoutText(r.Checkout)
	s, err := settings.Read(filepath.Join(r.root, settings.FileName), []byte(text))
	if err != nil {
		return &settings.Settings{} // the parts are always among those of besides
	}
	return s
}

// has reports whether a path of the repository, or one beside it, exists.
func (r *Repository) has(name string) bool {
	_, err := os.Stat(r.at(name))
	return err == nil && strings.TrimSpace(name) != ""
}

func (r *Repository) isFile(name string) bool {
	info, err := os.Lstat(r.at(name))
	return err == nil && info.Mode().IsRegular()
}

func (r *Repository) at(name string) string {
	if path.IsAbs(name) {
		return filepath.FromSlash(name)
	}
	return filepath.Join(r.root, filepath.FromSlash(name))
}

// queryFile is where init looks for the query of an integration.
func queryFile(name string) string { return "queries/" + name + ".graphql" }

// describe returns a line for people about the integrations.
func (r *Repository) describe() string {
	checked := 0
	for _, d := range r.Definitions {
		if d.Check != nil && !d.Check.Disabled {
			checked++
		}
	}
	switch {
	case r.Kind == Unknown:
		return "not known"
	case len(r.Definitions) == 0:
		return "none"
	}
	return fmt.Sprintf("%d, %d of them dry-run (with a pr_check)", len(r.Definitions), checked)
}
