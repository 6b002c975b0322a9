package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
)

// DefaultSettings is the settings file that is read when none is named, if it
// is there.
const DefaultSettings = "prcheck.yaml"

// maxQuery is the size in bytes up to which a query file is read.
const maxQuery = 1 << 20

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
