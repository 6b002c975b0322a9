package guard

import (
	"context"
	"os"
	"path/filepath"
)

// A HeldFile is a file that stays open until guard and worker are gone. The zero value
// holds no file.
type HeldFile struct {
	Name string
	Open func(ctx context.Context, name string) (*os.File, error)
}

// A Workspace is what the work gets from its guard.
type Workspace struct {
	// File is the held file; nil if there is none to hold.
	File *os.File
	// Folder is a folder for temporary files that only this user can read. It is
	// removed when the work is over, also if its process is killed. It is "" if no
	// folder could be made.
	Folder string
	lock   *os.File // of the folder; nil in the worker, and where there are no locks
}

// openWorkspace opens the file to hold and makes the private folder.
func openWorkspace(ctx context.Context, held HeldFile) (Workspace, error) {
	var space Workspace
	if held.Open != nil {
		file, err := held.Open(ctx, held.Name)
		if err != nil {
			return Workspace{}, err
		}
		space.File = file
	}
	// Without the folder a task that needs a private file reports the error.
	space.Folder, space.lock = newFolder(os.TempDir())
	return space, nil
}

// folderPattern begins the names of private folders. Nothing else of prcheck has such a name.
const folderPattern = "prcheck-private-"

// newFolder makes a private folder and locks it for as long as this process lives. Before, it removes those
// that killed processes left.
func newFolder(parent string) (name string, lock *os.File) {
	removeLeft(parent)
	for range maxRemovals {
		name, err := os.MkdirTemp(parent, folderPattern) // mode 0700
		if err != nil {
			return "", nil
		}
		lock, isLocked := lockFolder(name)
		if _, err := os.Stat(name); isLocked && err == nil {
			return name, lock
		}
		closeLock(lock) // another process took it for one that is left
	}
	return "", nil
}

// removeLeft removes the private folders of this user that no process has locked.
func removeLeft(parent string) {
	left, err := filepath.Glob(filepath.Join(parent, folderPattern+"*"))
	if err != nil {
		return
	}
	for _, name := range left {
		if info, err := os.Lstat(name); err != nil || !info.IsDir() || !isOurs(info) {
			continue
		}
		lock, isLocked := lockFolder(name)
		if isLocked && lock != nil {
			_ = os.RemoveAll(name) // the next run tries again
		}
		closeLock(lock)
	}
}

func closeLock(lock *os.File) {
	if lock != nil {
		_ = lock.Close() // nothing was written
	}
}

// close closes the file and removes the folder.
func (s Workspace) close() {
	s.removeFolder()
	closeLock(s.lock)
	if s.File != nil {
		_ = s.File.Close() // nothing is lost: each write was checked
	}
}

// maxRemovals is how often a folder is removed while others still write there.
const maxRemovals = 100

// removeFolder removes the private folder. A goroutine of this process may still make
// files there, so it tries again.
func (s Workspace) removeFolder() {
	for range maxRemovals {
		if s.Folder == "" || os.RemoveAll(s.Folder) == nil {
			return
		}
	}
}
