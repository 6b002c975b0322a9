package reconciler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/rounds"
)

// importFlags are the flags of import generic.
type importFlags struct {
	runFlags
	options   generic.ImportOptions
	data      string
	name      string
	printOnly bool
}

func importCommand(env cli.Env) *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Write data about what is there"}
	cmd.AddCommand(importGenericCommand(env))
	return cmd
}

func importGenericCommand(env cli.Env) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "generic ID --bundle REF --data DIR [flags]",
		Short: "Write data about a resource of an API, so that the next plan changes nothing",
		Long: `generic reads the resource with this id from the API of the data that has a type for it,
and writes a datafile below --data: what the service fills in, known defaults and marks of
ours are left out. Secrets are left out as well: the file says where they were. With
--with-children it does the same for all that stands in the resource.

With --state it also notes that the resource is ours as it is, so that the plan right after
is empty. A resource without our mark gets it with its next change. Nothing is changed at the API, and no file is written over.`,
		Example: `  reconciler import generic /subscriptions/s/resourceGroups/g/providers/Microsoft.Cache/Redis/r --bundle git:main --data data --state state
  reconciler import generic /apis/apps/v1/namespaces/shop/deployments/web --bundle git:main --print`,
		Args: cli.Takes("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.options.ID = args[0]
			if err := f.checkImport(env.Getenv); err != nil {
				return cli.Usage(err)
			}
			return f.write(cmd.Context(), env)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.bundle, "bundle", "", "the data that name the API: a bundle file, git:REV, dir:PATH, "+
		"s3://BUCKET/KEY, or http(s)://SERVER/graphql (required)")
	flags.StringVar(&f.config, "config", "", "settings: a file, base:PATH of --bundle git:REV, or git:REV[@DIR]:PATH "+
		"(default prcheck.yaml, if it exists)")
	flags.StringVar(&f.state, "state", "", "folder, or s3://BUCKET/PREFIX, that learns that the resource is ours "+
		"(default: nothing is remembered)")
	flags.StringVar(&f.data, "data", "", "folder of the datafiles of a checkout, to which files are written")
	flags.StringVar(&f.options.Folder, "folder", "cloud", "folder below --data for the new files")
	flags.StringVar(&f.options.API, "api", "", "name or datafile of the API (default: the one that has a type for the id)")
	flags.StringVar(&f.options.Type, "type", "", "resource type, with a version if there are several (default: the one "+
		"that fits)")
	flags.BoolVar(&f.options.WithChildren, "with-children", false, "also import what stands in the resource")
	flags.BoolVar(&f.printOnly, "print", false, "write the datafiles to stdout, and nothing else")
	flags.StringVar(&f.name, "integration", generic.Name, "name of the definition of the native integration")
	flags.DurationVar(&f.Timeout, "timeout", 10*time.Minute, "longest time")
	return cmd
}

// checkImport returns an error if flags do not go together, and fills in the rest.
func (f *importFlags) checkImport(getenv func(string) string) error {
	f.Wait, f.Workers, f.Writes = 2*time.Minute, 4, f.state != "" && !f.printOnly
	f.AllowOlder = true // nothing but the API is read from the bundle
	clean := path.Clean("/" + f.options.Folder)[1:]
	switch {
	case !f.printOnly && f.data == "":
		return errors.New("--data is required: the folder to which datafiles are written; or give --print")
	case f.printOnly && f.data != "":
		return errors.New("--print writes no files: leave out --data")
	case f.options.Folder != clean && f.options.Folder != "":
		return fmt.Errorf("--folder %.80q must be a path below --data, such as cloud/imported", f.options.Folder)
	}
	return f.check(getenv)
}

func (f *importFlags) write(ctx context.Context, env cli.Env) error {
	f.options.Save = func(all []generic.Imported) error { return f.save(env, all) }
	in, err := f.input(ctx, env, []integration.Native{generic.Importer(f.options)}, f.name)
	if err != nil {
		return err
	}
	outcome := rounds.Done
	_, err = rounds.New(in, f.Orders).Run(ctx, func(r *rounds.Report) error {
		if outcome = r.Outcome; outcome == rounds.Done {
			return nil
		}
		return r.WriteText(env.Stderr)
	})
	if err == nil && outcome != rounds.Done {
		return cli.Told(cli.ExitTrouble)
	}
	return err
}

// save writes the datafiles, and says where.
func (f *importFlags) save(env cli.Env, all []generic.Imported) error {
	if !f.printOnly {
		if err := writeFiles(f.data, all); err != nil {
			return err
		}
	}
	var b strings.Builder
	unmarked := 0
	for _, one := range all {
		if one.Unmarked {
			unmarked++
		}
		if f.printOnly {
			b.WriteString("# " + one.File + "\n" + string(one.Text))
			continue
		}
		fmt.Fprintf(&b, "%s  %s\n", one.File, one.ID)
	}
	if unmarked > 0 && !f.Writes {
		// it is only told
		_, _ = fmt.Fprintf(env.Stderr, "reconciler: %d of %d have no mark of ours, so a run refuses them (NOT_ADOPTED): "+
			"give --state without --print, or write adopt: if-exists into the files\n", unmarked, len(all))
	}
	_, err := io.WriteString(env.Stdout, b.String())
	return err
}

// writeFiles writes datafiles below a folder, which exists. It writes over no file, and never outside of
// the folder, also if a link leads there. On an error it removes what it wrote.
func writeFiles(dir string, files []generic.Imported) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the folder of the data: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var done []string
	for _, f := range files {
		if err := writeNew(root, f); err != nil {
			for _, name := range done {
				err = errors.Join(err, root.Remove(name))
			}
			return err
		}
		done = append(done, f.File)
	}
	return nil
}

func writeNew(root *os.Root, f generic.Imported) error {
	if err := root.MkdirAll(path.Dir(f.File), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", f.File, err)
	}
	file, err := root.OpenFile(f.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists, and is not written over: remove it, or choose another --folder", f.File)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.File, err)
	}
	_, err = file.Write(f.Text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", f.File, err), root.Remove(f.File))
	}
	return nil
}
