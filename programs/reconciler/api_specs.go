package reconciler

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
	"github.com/app-sre/prcheck/report"
)

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
