package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
)

// DefaultSettings is the settings file that is read when none is named, if it
// is there.
const DefaultSettings = "prcheck.yaml"

// maxQuery is the size in bytes up to which a query file is read.
const maxQuery = 1 << 20

// Bundle opens a bundle by reference. All errors are of the user's making.
func Bundle(ref string, like *bundle.Bundle) (*bundle.Bundle, error) {
	for _, scheme := range []string{"git:", "dir:", "s3:", "http:", "https:"} {
		if strings.HasPrefix(ref, scheme) {
			return nil, cli.Usage(fmt.Errorf("reference %q: only bundle files can be opened so far; make one with the bundler", ref))
		}
	}
	b, err := bundle.Open(ref, like)
	return b, cli.Invalid(err)
}

// Pair opens both bundles of a change.
func Pair(base, head string) (*bundle.Bundle, *bundle.Bundle, error) {
	for _, side := range []struct{ flag, ref string }{{"base", base}, {"head", head}} {
		if side.ref == "" {
			return nil, nil, cli.Usage(fmt.Errorf("--%s is required: the bundle file of that side", side.flag))
		}
	}
	b, err := Bundle(base, nil)
	if err != nil {
		return nil, nil, err
	}
	h, err := Bundle(head, b)
	return b, h, err
}

// Name is what a plan calls a reference: the path as it was given, but of an
// absolute path only its last part, since plans name no machine.
func Name(ref string) string {
	if filepath.IsAbs(ref) {
		return filepath.Base(ref)
	}
	return filepath.ToSlash(filepath.Clean(ref))
}

// Settings reads a settings file. Without a name it reads [DefaultSettings] if
// that exists, and otherwise returns settings that say nothing.
func Settings(name string) (*integration.Settings, error) {
	if name == "" {
		if _, err := os.Stat(DefaultSettings); errors.Is(err, fs.ErrNotExist) {
			return &integration.Settings{}, nil
		}
		name = DefaultSettings
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading settings: %w", err))
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, integration.MaxSettings+1))
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading settings: %w", err))
	}
	s, err := integration.ReadSettings(filepath.ToSlash(name), raw)
	return s, cli.Invalid(err)
}

// Folder is where the query files of settings are, and where tasks run.
func Folder(s *integration.Settings) string {
	if s.File == "" {
		return "."
	}
	return filepath.Dir(filepath.FromSlash(s.File))
}

// Query reads a file in the settings' folder; no link leads out of it.
func Query(s *integration.Settings) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		root, err := os.OpenRoot(Folder(s))
		if err != nil {
			return nil, err
		}
		defer root.Close()
		f, err := root.Open(filepath.FromSlash(path))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		raw, err := io.ReadAll(io.LimitReader(f, maxQuery+1))
		if err == nil && len(raw) > maxQuery {
			err = fmt.Errorf("%s is larger than 1 MiB", path)
		}
		return raw, err
	}
}
