package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
)

// Create creates a file of the repository. It returns false if there is something of that
// name, which stays as it is. No link is followed.
func (r *Repository) Create(f File) (created bool, err error) {
	name := r.at(f.Name)
	parent, err := safepath.MakeFolder(filepath.Dir(name))
	if err == nil {
		defer parent.Close()
		err = createIn(parent, path.Base(f.Name), f.Text)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, cli.Invalid(fmt.Errorf("writing %q: %w", f.Name, causeOf(err)))
	}
	return true, nil
}

// createIn writes a new file of a folder, or leaves none.
func createIn(parent *os.Root, name, text string) error {
	file, err := parent.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, parent.Remove(name))
	}
	return nil
}

// causeOf returns the error of the system in a file error, without the name of the file.
func causeOf(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
