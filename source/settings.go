package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/git"
	"github.com/app-sre/prcheck/settings"
)

// maxQuery is the size in bytes up to which a query file is read.
const maxQuery = 1 << 20

// OpenedSettings are settings with what reads the query files that they name. When they are those
// of a revision, so are the query files, whatever the working tree has.
type OpenedSettings struct {
	*settings.Settings
	ReadQuery func(path string) ([]byte, error)
	Revision  *Revision // nil when they come from a file or an object
	IsObject  bool      // they come from an object of a bucket
}

// A Revision is the commit that settings were read from.
type Revision struct {
	Root    string // folder of the repository
	Commit  string
	Path    string // of the settings file in the repository
	Missing bool   // the commit has no such file, so the settings say nothing
}

// Root returns the folder of the repository that the settings are of, "" when they come from
// a file or an object.
func (s OpenedSettings) Root() string {
	if s.Revision == nil {
		return ""
	}
	return s.Revision.Root
}

// OpenSettings reads settings: a file, an object, base:PATH of the revision that base names,
// or git:REV[@DIR]:PATH of any. All errors are of the user's making.
func OpenSettings(ctx context.Context, name, base string) (OpenedSettings, error) {
	ref, file, isRevision := "", "", false
	switch {
	case IsObject(name):
		return objectSettings(ctx, name)
	case strings.HasPrefix(name, settings.FromBase):
		ref, file, isRevision = base, strings.TrimPrefix(name, settings.FromBase), true
		if !strings.HasPrefix(base, "git:") {
			return OpenedSettings{},
				cli.Usage(fmt.Errorf("--config %s takes a base that is a revision, git:REV, since only that has files beside "+
					"the bundle", name))
		}
	case strings.HasPrefix(name, "git:"):
		ref, file, isRevision = strings.Cut(strings.TrimPrefix(name, "git:"), ":")
		ref = "git:" + ref
		if !isRevision {
			return OpenedSettings{}, cli.Usage(fmt.Errorf("--config %s names no file: give git:REV:PATH", name))
		}
	}
	if !isRevision {
		s, err := ReadSettings(name)
		return OpenedSettings{Settings: s, ReadQuery: QueryReader(s)}, err
	}
	s, err := revisionSettings(ctx, ref, file)
	if err != nil && ctx.Err() == nil {
		err = cli.Invalid(fmt.Errorf("settings %s: %w", name, err))
	}
	return s, err
}

// ReadSettings reads a settings file. Without a name it reads [settings.FileName] if
// that file exists, and otherwise returns settings that say nothing.
func ReadSettings(name string) (*settings.Settings, error) {
	if name == "" {
		if _, err := os.Stat(settings.FileName); errors.Is(err, fs.ErrNotExist) {
			return &settings.Settings{}, nil
		}
		name = settings.FileName
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading settings: %w", err))
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, settings.MaxBytes+1))
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading settings: %w", err))
	}
	s, err := settings.Read(filepath.ToSlash(name), raw)
	return s, cli.Invalid(err)
}

// QueryReader returns a function that reads a file in the settings' folder. No link leads out
// of that folder.
func QueryReader(s *settings.Settings) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		return limited(path, func() ([]byte, error) { return readBelow(s.Folder(), path, maxQuery) })
	}
}

// limited refuses a query file that is too large.
func limited(path string, read func() ([]byte, error)) ([]byte, error) {
	raw, err := read()
	if err == nil && len(raw) > maxQuery {
		err = fmt.Errorf("%s is larger than 1 MiB", path)
	}
	return raw, err
}

// objectSettings reads settings that are an object. Tasks then start in the current folder,
// and the files that the settings name cannot be read.
func objectSettings(ctx context.Context, name string) (OpenedSettings, error) {
	raw, err := read(ctx, name)
	if err != nil {
		return OpenedSettings{}, cli.Invalid(fmt.Errorf("reading settings: %w", err))
	}
	s, err := settings.Read(name, raw)
	if err != nil {
		return OpenedSettings{}, cli.Invalid(err)
	}
	s.File = settings.FileName
	return OpenedSettings{Settings: s, IsObject: true, ReadQuery: func(path string) ([]byte, error) {
		return nil, fmt.Errorf("%s is not beside %s, which is an object: plan with settings in a folder", path, name)
	}}, nil
}

// revisionSettings reads the settings of a revision. When the revision has none, the settings
// say nothing: nobody has trusted any yet.
func revisionSettings(ctx context.Context, ref, file string) (OpenedSettings, error) {
	revision, dir, _ := ParseRevision(ref)
	commit, err := git.OpenCommit(ctx, dir, revision)
	if err != nil {
		return OpenedSettings{}, err
	}
	repo, err := git.FindRepository(ctx, dir)
	if err != nil {
		return OpenedSettings{}, err
	}
	s := OpenedSettings{Settings: &settings.Settings{}, Revision: &Revision{Root: repo.Root(), Commit: commit.Hash(),
		Path: file}}
	s.ReadQuery = func(name string) ([]byte, error) {
		return limited(name, func() ([]byte, error) {
			return commit.ReadFile(ctx, path.Join(path.Dir(file), name), maxQuery)
		})
	}
	raw, err := commit.ReadFile(ctx, file, settings.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		s.Revision.Missing = true
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if s.Settings, err = settings.Read(git.Short(commit.Hash())+":"+file, raw); err != nil {
		return s, err
	}
	s.File = filepath.FromSlash(file)
	if !repo.IsCurrent() {
		s.File = filepath.Join(repo.Root(), s.File)
	}
	return s, nil
}

// Located adds to an error about the settings of which revision they are.
func (s OpenedSettings) Located(err error) error {
	var mistake *settings.Error
	if s.Revision == nil || !errors.As(err, &mistake) {
		return err
	}
	return fmt.Errorf("settings of %s: %w", git.Short(s.Revision.Commit), err)
}
