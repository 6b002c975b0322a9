package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
)

// IgnoreFile is the file that names what git leaves alone.
const IgnoreFile = ".gitignore"

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

// maxPrograms is how many programs that are not found are named.
const maxPrograms = 5

// Missing returns a line for each thing that a person must still do before prcheck can check
// a change, beside the files that Create makes.
func (r *Repository) Missing() []string {
	out := r.missingParts()
	if len(out) == 0 && r.trouble != nil {
		out = append(out, fmt.Sprintf("the working tree cannot be bundled: %s", firstLine(r.trouble)))
	}
	out = append(out, r.missingInSettings()...)
	if r.Kind == Own {
		out = append(out, r.missingPrograms()...)
	}
	return append(out, r.missingInCI()...)
}

// Notes returns lines about what works here and may not work elsewhere.
func (r *Repository) Notes() []string {
	var out []string
	for _, at := range []string{r.Checkout.Schemas, r.Checkout.GraphQL} {
		if settings.IsOutside(at) && r.hasPart[at] {
			out = append(out,
				fmt.Sprintf("%s is outside of the repository: jobs need it there, too, for instance by a before_script that "+
					"clones it", at))
		}
	}
	return out
}

// missingParts returns lines about parts of a bundle that are not there.
func (r *Repository) missingParts() []string {
	var out []string
	for _, part := range []struct{ path, what, key string }{
		{r.Checkout.Data, "the folder with the datafiles", "data"},
		{r.Checkout.Schemas, "the folder with the JSON schemas", "schemas"},
		{r.Checkout.GraphQL, "the file with the GraphQL types", "graphql"},
	} {
		if part.key == "graphql" && r.Checkout.FromBundle() {
			continue
		}
		if !r.hasPart[part.path] {
			out = append(out,
				fmt.Sprintf("%s is missing: make %s, or say in %s where it is (checkout.%s); docs/tutorial.md shows a small one",
					part.what, part.path, settings.FileName, part.key))
		}
	}
	return out
}

// missingInSettings returns lines about definitions, and about what the settings say of them.
func (r *Repository) missingInSettings() []string {
	if r.head == nil {
		return nil
	}
	in := planner.Input{Base: r.head, Head: r.head, Settings: r.bundleSettings(), ReadQuery: func(string) ([]byte, error) {
		return nil, os.ErrNotExist
	}}
	if r.settings != nil {
		in.Settings, in.ReadQuery = r.settings.Settings, r.settings.ReadQuery
	}
	var out []string
	if err := planner.Check(in); err != nil && r.Kind == Empty {
		out = append(out,
			fmt.Sprintf("no integration is defined: write a datafile with the $schema %q for each of your programs "+
				"(docs/tutorial.md)", in.Settings.DefinitionSchema()))
		if _, near, ok := strings.Cut(err.Error(), "(there are datafiles of "); ok {
			near, _, _ = strings.Cut(near, ")")
			out = append(out,
				fmt.Sprintf("there are datafiles of %s: if they define the integrations, name their $schema in %s "+
					"(definition_schema)", sanitize.Line(near), settings.FileName))
		}
	} else if err != nil && r.settings != nil {
		out = append(out, strings.ReplaceAll(firstLine(err), r.at("")+"/", ""))
	}
	if r.Kind != Empty && !slices.ContainsFunc(r.Definitions, func(d integration.Definition) bool {
		return d.Check != nil
	}) {
		out = append(out, "no definition has a pr_check, so nothing is ever dry-run: write pr_check.cmd into those that "+
			"should be")
	}
	return out
}

// missingPrograms returns a line about commands whose program is not here.
func (r *Repository) missingPrograms() []string {
	if r.settings != nil && !slices.Equal(r.settings.Exec.Argv, []string{"{cmd}"}) {
		return nil // the definitions' first words are no programs
	}
	var unknown []string
	for _, d := range r.Definitions {
		if d.Check == nil || d.Check.Disabled {
			continue
		}
		if r.settings != nil && !slices.Equal(r.settings.For(d.Name).Exec.Argv, []string{"{cmd}"}) {
			continue
		}
		word := firstWord(d.Check.Cmd)
		if word == "" {
			word = "(pr_check.cmd of " + d.Name + " is empty)"
		} else if r.isCommand(word) {
			continue
		}
		if word = sanitize.Line(word); !slices.Contains(unknown, word) {
			unknown = append(unknown, word)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	more := ""
	if n := len(unknown) - maxPrograms; n > 0 {
		unknown, more = unknown[:maxPrograms], fmt.Sprintf(" and %d more", n)
	}
	return []string{fmt.Sprintf("these programs are neither in PATH nor in the repository: %s%s; install them, or say "+
		"in %s how tasks start (exec.argv)",
		strings.Join(unknown, ", "), more, settings.FileName)}
}

// missingInCI returns a line if the pipeline does not start prcheck.
func (r *Repository) missingInCI() []string {
	switch {
	case !r.usesGitLab():
		return []string{fmt.Sprintf("the remote is %s, and the pipeline that is shipped is one of GitLab: run runner "+
			"precheck in a job of your own", sanitize.Line(r.Host))}
	case !r.isFile(CIFile):
		return []string{CIFile + " is no file, but a folder, a link or something else: move it away, and run init again"}
	case r.mentionsPrcheck(CIFile):
		return nil
	}
	return []string{CIFile + " does not start prcheck: add the include of docs/gitlab.md to it"}
}

// maxCIFile is how many bytes of a CI file are read.
const maxCIFile = 1 << 20

func (r *Repository) mentionsPrcheck(name string) bool {
	f, err := os.Open(r.at(name))
	if err != nil {
		return false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxCIFile))
	return err == nil && strings.Contains(string(raw), "prcheck")
}

// firstLine returns the first line of an error.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return sanitize.Line(line)
}

// An Outcome says what became of a file.
type Outcome struct {
	Name    string
	Created bool // otherwise it was there before
}

// CreateAll creates the files that the repository lacks. If it has settings, their queries
// are theirs, and are left alone. Without datafiles that can be read nothing is created,
// because it might be the wrong thing.
func (r *Repository) CreateAll() ([]Outcome, error) {
	if r.Kind == Unknown {
		return nil, nil
	}
	files, err := r.Files()
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for _, f := range files {
		if r.settings != nil && f.Name != settings.FileName && f.Name != CIFile && f.Name != IgnoreFile {
			continue
		}
		created, err := r.Create(f)
		if err != nil {
			return out, err
		}
		out = append(out, Outcome{f.Name, created})
	}
	return out, nil
}

// Write writes for people what the repository has, what became of the files, and what is
// missing.
func (r *Repository) Write(w io.Writer, files []Outcome) error {
	var b strings.Builder
	fmt.Fprintf(&b, "This is %s.\n", r.Kind)
	for _, row := range [][2]string{
		{"datafiles", r.part(r.Checkout.Data, r.Checkout.Data)},
		{"resources", r.part(r.Checkout.Resources, r.Checkout.Resources)},
		{"JSON schemas", r.part(r.Checkout.Schemas, r.Checkout.Schemas)},
		{"GraphQL types", r.part(r.Checkout.GraphQL, r.Checkout.GraphQL)},
		{"integrations", r.describe()},
		{"remote", sanitize.Line(cmp.Or(r.Host, "none"))},
	} {
		fmt.Fprintf(&b, "  %-13s  %s\n", row[0], row[1])
	}
	b.WriteString("\n")
	for _, f := range files {
		said := "is there, and stays as it is"
		if f.Created {
			said = "is new"
		}
		fmt.Fprintf(&b, "%s %s\n", f.Name, said)
	}
	for _, line := range r.Notes() {
		fmt.Fprintf(&b, "note: %s\n", line)
	}
	missing := r.Missing()
	for _, line := range missing {
		fmt.Fprintf(&b, "missing: %s\n", line)
	}
	if len(missing) == 0 {
		b.WriteString("Nothing is missing.\n")
	}
	if slices.ContainsFunc(files, func(f Outcome) bool { return f.Created }) {
		b.WriteString("\nRead the new files, and commit them.")
		if len(missing) == 0 {
			b.WriteString(" Then change a datafile on a branch, and run: runner precheck")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// part returns what to say about a part of a bundle.
func (r *Repository) part(path, there string) string {
	if r.hasPart[path] {
		return there
	}
	return "none"
}
