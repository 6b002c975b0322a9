package reconciler

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/catalog"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/report"
)

// apiFlags are what all commands about specifications are given.
type apiFlags struct {
	folder    string
	files     []string
	overrides []string
	noShipped bool
	form      cli.Choice
}

func apiCommand(env cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Tell what API specifications describe",
		Long: `api reads API specifications (OpenAPI 2.0, 3.0 and 3.1, as JSON or YAML) and tells
which resource types they describe, and what can be done with each property: whether
the service fills it in, whether it can be changed later, whether it can be read back.
It says who says so. It asks no service.`,
	}
	cmd.AddCommand(apiTypesCommand(env), apiShowCommand(env), apiExplainCommand(env), apiSchemaCommand(env),
		apiDataCommand(env), apiPlanCommand(env))
	return cmd
}

// add adds the flags to a command.
func (f *apiFlags) add(cmd *cobra.Command) {
	f.form = cli.OneOf("text", "json")
	cmd.Flags().StringVar(&f.folder, "specs", "", "folder with the specifications; references stay in it (required)")
	cmd.Flags().StringArrayVar(&f.files, "file", nil, "read the types of this file of the folder only, can be repeated")
	cmd.Flags().Var(&f.form, "format", "how to write it: text or json")
}

// addOverrides adds the flags about overrides to a command.
func (f *apiFlags) addOverrides(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.overrides, "overrides", nil,
		"override file, can be repeated; a later one replaces what an earlier one says")
	cmd.Flags().BoolVar(&f.noShipped, "no-shipped-overrides", false, "use no overrides that are a part of reconciler")
}

func apiTypesCommand(env cli.Env) *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "types --specs DIR [TEXT]",
		Short: "List the resource types of specifications",
		Long: `types lists the resource types of all specifications in a folder, each below its
parent, with its verbs. With TEXT it lists those whose names contain it, and the types
around them. What cannot be read is told on stderr.`,
		Example: `  reconciler api types --specs specs
  reconciler api types --specs specs redis
  reconciler api types --specs specs --format json | jq -r '.types[].type'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			index, err := f.index(env)
			if err != nil {
				return err
			}
			tree := catalog.NewTree(index, strings.Join(args, ""))
			if f.form.String() == "json" {
				return catalog.JSON(env.Stdout, tree)
			}
			return tree.Text(env.Stdout)
		},
	}
	f.add(cmd)
	return cmd
}

func apiShowCommand(env cli.Env) *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "show --specs DIR TYPE",
		Short: "Show a resource type: its verbs, its PATCH, its properties by class",
		Long: `show shows one resource type: where it stands, its verbs, what PATCH can do, which
operations go on after their answer, and its properties by class, each with the ground
for it. The version can be left out if there is only one. Case does not count.`,
		Example: `  reconciler api show --specs specs Microsoft.Cache/Redis@2018-03-01
  reconciler api show --specs specs --overrides overrides.json apps/v1/deployments
  reconciler api show --specs specs --format json batch/v1/cronjobs | jq '.properties | length'`,
		Args:              cli.Takes("TYPE"),
		ValidArgsFunction: f.complete(env),
		RunE: func(_ *cobra.Command, args []string) error {
			index, overrides, err := f.open(env)
			if err != nil {
				return err
			}
			types, err := index.Find(args[0])
			if err != nil {
				return cli.Usage(err)
			}
			page, err := catalog.NewPage(types, overrides...)
			if err != nil {
				return cli.Invalid(err)
			}
			if f.form.String() == "json" {
				return catalog.JSON(env.Stdout, page)
			}
			return page.Text(env.Stdout)
		},
	}
	f.add(cmd)
	f.addOverrides(cmd)
	return cmd
}

func apiExplainCommand(env cli.Env) *cobra.Command {
	var f apiFlags
	cmd := &cobra.Command{
		Use:   "explain --specs DIR TYPE[.PATH]",
		Short: "Tell what can be done with a property, and who says so",
		Long: `explain tells the class of one property of a resource type and the ground for it: a
keyword of the specification with its file and JSON pointer, a difference between what
the operations take and answer, a habit of all such services, or an override with its
reason. It ends with the entry that corrects a wrong class.

In a path, [] is any item of a list and {} any value of a map. A JSON pointer is taken
too, behind a dot.`,
		Example: `  reconciler api explain --specs specs Microsoft.Cache/Redis@2018-03-01.properties.subnetId
  reconciler api explain --specs specs 'apps/v1/deployments.spec.template.spec.containers[].ports'
  reconciler api explain --specs specs apps/v1/deployments./spec/template/spec/containers/0/image`,
		Args:              cli.Takes("TYPE[.PATH]"),
		ValidArgsFunction: f.complete(env),
		RunE: func(_ *cobra.Command, args []string) error {
			index, overrides, err := f.open(env)
			if err != nil {
				return err
			}
			types, path, err := index.Split(args[0])
			if err != nil {
				return cli.Usage(err)
			}
			page, err := catalog.NewPropertyPage(types[0], path, overrides...)
			if missing := (*classes.PathError)(nil); errors.As(err, &missing) {
				return cli.Usage(fmt.Errorf("%s: %w", types[0].ID(), err))
			}
			if err != nil {
				return cli.Invalid(err)
			}
			if f.form.String() == "json" {
				return catalog.JSON(env.Stdout, page)
			}
			return page.Text(env.Stdout)
		},
	}
	f.add(cmd)
	f.addOverrides(cmd)
	return cmd
}

// open returns the types and the overrides. An override of a file that matches nothing is a
// mistake.
func (f *apiFlags) open(env cli.Env) (*resources.Index, []*classes.Overrides, error) {
	index, err := f.index(env)
	if err != nil {
		return nil, nil, err
	}
	var out []*classes.Overrides
	if !f.noShipped {
		shipped, err := classes.Shipped()
		if err != nil {
			return nil, nil, err
		}
		out = append(out, shipped)
	}
	var own []*classes.Overrides
	for _, name := range f.overrides {
		o, err := readOverrides(name)
		if err != nil {
			return nil, nil, cli.Invalid(err)
		}
		own = append(own, o)
	}
	return index, append(out, own...), matchAll(index, own)
}

// matchAll finds the overrides that match nothing.
func matchAll(index *resources.Index, files []*classes.Overrides) error {
	if len(files) == 0 {
		return nil
	}
	var errs []error
	for _, t := range index.Types() {
		isNamed := func(e *classes.Entry) bool { return e.IsAbout(t) }
		if !slices.ContainsFunc(files, func(o *classes.Overrides) bool { return slices.ContainsFunc(o.Entries, isNamed) }) {
			continue
		}
		if _, err := classes.New(t, files...); err != nil {
			errs = append(errs, err)
		}
	}
	for _, o := range files {
		errs = append(errs, o.Unused(true)...)
	}
	if len(errs) > 0 {
		return cli.Invalid(errors.Join(errs...))
	}
	return nil
}

// complete completes the names of types.
func (f *apiFlags) complete(env cli.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || f.folder == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		env.Stderr = nil
		index, err := f.index(env)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, t := range index.Types() {
			if id := t.ID(); len(id) >= len(typed) && strings.EqualFold(id[:len(typed)], typed) && !slices.Contains(out, id) &&
				isWord(id) {
				out = append(out, id)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// isWord reports whether a name can be offered to a shell.
func isWord(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("'\"\\$`;&|<>(){}*?!", r)
	})
}

const (
	maxSpecs     = 20_000  // files in a folder of specifications
	maxOverrides = 4 << 20 // bytes of an override file
)

// index reads the types of the specifications. A file that cannot be read is told on stderr,
// unless it is named: then it is an error.
func (f *apiFlags) index(env cli.Env) (*resources.Index, error) {
	if f.folder == "" {
		return nil, cli.Usage(errors.New("--specs is required: the folder with the specifications"))
	}
	root, err := safepath.OpenFolder(f.folder)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("--specs: %w", err))
	}
	defer root.Close()
	names := f.files
	if len(names) == 0 {
		if names, err = specNames(root); err != nil {
			return nil, cli.Invalid(fmt.Errorf("--specs: %w", err))
		}
	}
	set := openapi.NewSet(f.read, openapi.Limits{})
	var documents []*openapi.Document
	var warnings []error
	for _, name := range names {
		d, err := set.Document(path.Clean(name))
		switch {
		case err == nil && d.Version() == "" && len(f.files) > 0:
			return nil, cli.Invalid(fmt.Errorf("--file %s: this is no OpenAPI specification", name))
		case err == nil:
			documents = append(documents, d)
		case len(f.files) > 0:
			return nil, cli.Invalid(err)
		default:
			warnings = append(warnings, err)
		}
	}
	index := resources.NewIndex(documents)
	warn(env, append(warnings, index.Mistakes()...))
	return index, nil
}

// maxWarnings is how many warnings are printed.
const maxWarnings = 20

func warn(env cli.Env, warnings []error) {
	if env.Stderr == nil {
		return
	}
	for _, err := range warnings[:min(len(warnings), maxWarnings)] {
		// a warning is not worth stopping for
		_, _ = fmt.Fprintf(env.Stderr, "reconciler: %s\n", report.Printable(err.Error()))
	}
	if n := len(warnings) - maxWarnings; n > 0 {
		_, _ = fmt.Fprintf(env.Stderr, "reconciler: %d more files or addresses cannot be read\n", n)
	}
}

// specNames returns the names of the JSON and YAML files below a folder, sorted, but those of examples.
func specNames(root *os.Root) ([]string, error) {
	var out []string
	err := fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "examples" || strings.HasPrefix(e.Name(), ".") && name != "."):
			return fs.SkipDir
		case e.Type().IsRegular() && (strings.HasSuffix(name, ".json") || openapi.IsYAML(name)):
			out = append(out, name)
		}
		if len(out) > maxSpecs {
			return fmt.Errorf("there are more than %d JSON and YAML files; name a smaller folder", maxSpecs)
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}

// read reads a file of the specifications, at most limit and one more bytes. Links are not
// followed.
func (f *apiFlags) read(name string, limit int64) ([]byte, error) {
	root, err := safepath.OpenFolder(f.folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	at, err := safepath.Below(root, path.Dir(name), false)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	info, err := at.Lstat(path.Base(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	file, err := safepath.OpenIn(at, path.Base(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

func readOverrides(name string) (*classes.Overrides, error) {
	file, err := safepath.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--overrides: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxOverrides+1))
	if err != nil {
		return nil, fmt.Errorf("--overrides: %w", err)
	}
	if len(raw) > maxOverrides {
		return nil, fmt.Errorf("--overrides %q: larger than %d MiB", name, maxOverrides>>20)
	}
	return classes.ReadOverrides(name, raw)
}

func apiDataCommand(env cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "data DIR",
		Short: "Write the schemas of APIs and resources for a repository",
		Long: `data writes what a repository needs to have APIs and resources among its data
(/cloud/api-1.yml, /cloud/resource-1.yml): their JSON schemas below DIR/schemas, and the
GraphQL types in DIR/graphql-schemas/cloud.yml. If the repository has no types yet, they are
its types (schema.yml); else it says that they are to be added there. No file that exists is
written over.`,
		Example: `  reconciler api data .`,
		Args:    cli.Takes("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.CopyFS(args[0], cloud.Files()); err != nil {
				return cli.Invalid(fmt.Errorf("writing the schemas: %w", err))
			}
			err := fs.WalkDir(cloud.Files(), ".", func(name string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					_, err = fmt.Fprintln(env.Stdout, name)
				}
				return err
			})
			return errors.Join(err, addFirst(env, args[0]))
		},
	}
}

// addFirst writes what a repository without GraphQL types needs besides, and says what to add in one that has some.
func addFirst(env cli.Env, dir string) error {
	root, err := safepath.OpenFolder(dir)
	if err != nil {
		return cli.Invalid(err)
	}
	defer root.Close()
	if _, err := root.Lstat(cloud.TypesFile); err == nil {
		_, _ = fmt.Fprintf(env.Stderr, "reconciler: add the types of graphql-schemas/cloud.yml to %s, and the fields of its Query "+
			"to those of the Query there, which also needs resources_v1\n", cloud.TypesFile) // only a note
		return nil
	}
	all, err := cloud.FirstFiles()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		err := writeFirst(root, name, all[name])
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = fmt.Fprintln(env.Stdout, name)
		}
		if err != nil {
			return fmt.Errorf("writing %q: %w", name, err)
		}
	}
	return nil
}

// writeFirst writes a file that is not there yet.
func writeFirst(root *os.Root, name, text string) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
