package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/runner/effects"
)

// readEffects reads the file into which a task wrote its effects. The task may have put
// anything in its place: a link is not followed, and a pipe is not waited for.
func readEffects(name string, finder *effects.Finder) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		finder.MissFile("the task removed the folder of the file {effects}")
		return
	}
	defer root.Close()
	file, err := safepath.OpenFileIn(root, filepath.Base(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		finder.MissFile("the task removed the file {effects}")
		return
	case errors.Is(err, safepath.ErrLink):
		finder.MissFile("the task put a link in the place of the file {effects}")
		return
	case err != nil:
		finder.MissFile("the file {effects} cannot be opened")
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		finder.MissFile("the task put something else in the place of the file {effects}")
		return
	}
	finder.ReadFile(file)
}
