package reconciler

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/app-sre/prcheck/natives/generic"
)

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
