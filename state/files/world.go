package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/world"
)

// A World is the files of a side as tasks find them.
type World struct {
	Tree *world.Tree
	// Root is the checkout on disk, in which the files of Others lie; "" if there are none.
	Root string
	// Others are files and folders of the checkout that are not in the tree, since git ignores or
	// does not track them; a folder has a slash at its end.
	Others []string
}

// maxOther bounds how many bytes of a file are read that is not in the tree.
const maxOther = 64 << 20

// unknown is what is found where nobody can tell. It is never the same as anything.
const unknown = "?"

// missing is what is found where nothing is.
const missing = "missing"

// IsOther reports whether a path is one of Others, or lies below one.
func (w World) IsOther(name string) bool {
	return slices.ContainsFunc(w.Others, func(o string) bool {
		return name == strings.TrimSuffix(o, "/") || strings.HasSuffix(o, "/") && strings.HasPrefix(name, o)
	})
}

// isFolder reports whether a path is a folder.
func (w World) isFolder(name string) bool {
	if _, kind, ok := w.Tree.Lookup(name); ok {
		return kind == world.Folder || kind == world.Submodule
	}
	if !w.IsOther(name) {
		return false
	}
	info, err := os.Lstat(filepath.Join(w.Root, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

// hasFolder reports whether a folder or something below it belongs to the world.
func (w World) hasFolder(name string) bool {
	_, _, ok := w.Tree.Lookup(name)
	return ok || w.IsOther(name) ||
		slices.ContainsFunc(w.Others, func(o string) bool { return strings.HasPrefix(o, name+"/") })
}

// Found returns what is at a path: "100644 ID" for a file, likewise for a program or a link,
// "folder", "folder DIGEST" of its names when these count, "commit ID" below .git, or "missing".
func (w World) Found(name string, lists bool) string {
	if path.Base(name) == ".git" {
		return "commit " + w.commitAt(path.Dir(name))
	}
	f, kind, ok := w.Tree.Lookup(name)
	switch {
	case !ok && w.IsOther(name):
		return w.other(name, lists)
	case !ok:
		return missing
	case kind == world.Folder && lists, kind == world.Submodule && lists:
		names, _ := w.Tree.Names(name)
		return "folder " + digestNames(append(slices.Clone(names), w.OthersIn(name)...))
	case kind == world.Folder:
		return "folder"
	}
	return f.Mode + " " + f.ID
}

// commitAt returns the commit of the repository in a folder: that of the side, or of a submodule.
func (w World) commitAt(folder string) string {
	if f, kind, ok := w.Tree.Lookup(folder); ok && kind == world.Submodule {
		return f.ID
	}
	return w.Tree.Commit()
}

// OthersIn returns the names in a folder that are not in the tree.
func (w World) OthersIn(folder string) []string {
	var out []string
	for _, o := range w.Others {
		name := strings.TrimSuffix(o, "/")
		if path.Dir(name) == path.Clean(folder) && !isCompiled(name) {
			out = append(out, path.Base(name))
		}
	}
	return out
}

// digestNames returns a digest of the names in a folder.
func digestNames(names []string) string {
	for i, n := range names {
		names[i] = strings.TrimSuffix(n, "/")
	}
	slices.Sort(names)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(slices.Compact(names), "\x00"))))[:32]
}

// other returns what is on disk at a path that is not in the tree.
func (w World) other(name string, lists bool) string {
	at := filepath.Join(w.Root, filepath.FromSlash(name))
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return unknown
	case info.IsDir() && !lists:
		return "folder"
	case info.IsDir():
		entries, err := os.ReadDir(at)
		if err != nil {
			return unknown
		}
		var names []string
		for _, e := range entries {
			if !isCompiled(e.Name()) {
				names = append(names, e.Name())
			}
		}
		return "folder " + digestNames(names)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(at)
		if err != nil {
			return unknown
		}
		return fmt.Sprintf("other link %x", sha256.Sum256([]byte(target)))
	case !info.Mode().IsRegular() || info.Size() > maxOther:
		return unknown
	}
	return otherFile(at, info.Mode()&0o111 != 0)
}

// otherFile returns the digest of a file on disk.
func otherFile(name string, isProgram bool) string {
	f, err := os.Open(name)
	if err != nil {
		return unknown
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxOther)); err != nil {
		return unknown
	}
	return fmt.Sprintf("other %t %x", isProgram, h.Sum(nil))
}

// Changed returns the first path of a list at which the world has something else; ok is false if
// there is none.
func (w World) Changed(l List) (name string, ok bool) {
	for _, r := range l {
		if now := w.Found(r.Path, r.Lists); now != r.Found || now == unknown {
			return r.Path, true
		}
	}
	return "", false
}
