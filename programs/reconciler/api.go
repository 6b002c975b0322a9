package reconciler

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/openapi/catalog"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
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
	cmd.AddCommand(apiTypesCommand(env), apiShowCommand(env), apiExplainCommand(env), apiDataCommand(env),
		apiPlanCommand(env))
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
