package world

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// IsOnDisk reports whether the checkout has a file of the tree with these bytes and this mode now. Where git may have
// converted the bytes at checkout, a file with other bytes is taken for the same if it was last modified before a time.
func (t *Tree) IsOnDisk(f File, since time.Time) (bool, error) {
	name := filepath.Join(t.root, filepath.FromSlash(f.Path))
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if f.Mode == modeLink {
		text, err := os.Readlink(name)
		return err == nil && text == t.links[f.ID], nil
	}
	if !info.Mode().IsRegular() || info.Mode()&0o100 != 0 != (f.Mode == modeProgram) {
		return false, nil
	}
	if t.isCommit && t.conversions != "" && ChangeTime(info).Before(since) {
		return true, nil
	}
	in, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer in.Close()
	h := newBlobHash(len(f.ID), info.Size())
	if _, err := io.Copy(h, in); err != nil {
		return false, err
	}
	return sumOf(h) == f.ID, nil
}
