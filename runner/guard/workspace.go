package guard

import (
	"context"
	"os"
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
	space.Folder, _ = os.MkdirTemp("", "prcheck-") // mode 0700
	return space, nil
}

// close closes the file and removes the folder.
func (s Workspace) close() {
	s.removeFolder()
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
