package world

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// IsOnDisk reports whether the checkout has a file of the tree with these bytes and this mode now. Where git may have
// converted the bytes at checkout it is taken for the same.
func (t *Tree) IsOnDisk(f File) (bool, error) {
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
	if t.isCommit && t.conversions != "" {
		return true, nil
	}
	in, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer in.Close()
	h := newHash(len(f.ID))
	_, _ = fmt.Fprintf(h, "blob %d\x00", info.Size()) // a hash never fails
	if _, err := io.Copy(h, in); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == f.ID, nil
}
