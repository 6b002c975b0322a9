package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/reads"
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
	// IsOwn reports whether prcheck itself wrote a file of the checkout; nil: it wrote none.
	IsOwn func(name string) bool
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

// otherContent returns what is found where a file is that is not in the tree.
func otherContent(isProgram bool, digest string) string {
	return fmt.Sprintf("other %t %s", isProgram, digest)
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
	return otherContent(isProgram, hex.EncodeToString(h.Sum(nil)))
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

// A Run is a run of a task that was recorded. [World.Of] says what it read, and [World.ChangedMeanwhile] whether
// somebody else changed that.
type Run struct {
	Since   time.Time // before it began
	InPlace bool      // it ran in the checkout itself; a view has only the files of Others in common with it

	record      reads.Record
	root, other string

	wrote map[string]bool         // the paths that it made, changed or removed
	seen  map[string]bool         // the paths at which something was when it first used them
	first map[string]reads.Access // what was there before it changed it
	inode map[string]uint64       // the numbers of the files that it found
}

// RunOf returns the run of a record. The task found the files of its side below root; other is the checkout itself, the
// same folder if the task started there.
func RunOf(rec reads.Record, root, other string) Run {
	run := Run{record: rec, root: root, other: other, wrote: map[string]bool{}, seen: map[string]bool{},
		first: map[string]reads.Access{}, inode: map[string]uint64{}}
	for _, a := range rec.Accesses {
		for _, root := range []string{root, other} {
			if path, inside := below(a.Name, root); inside {
				run.wrote[path] = run.wrote[path] || a.Wrote
				run.seen[path] = run.seen[path] || a.Seen
				if a.Inode != 0 {
					run.inode[path] = a.Inode
				}
				if a.Names != nil || a.Before != nil {
					run.first[path] = a
				}
			}
		}
	}
	return run
}

// hasWritten reports whether the task made, changed or removed a path or a folder above it.
func (r Run) hasWritten(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if r.wrote[name] {
			return true
		}
	}
	return false
}

// explains reports whether what was at a path that is not of the side may be of the task itself. In a place that others
// may write to it is only so if the task made or moved a folder above it: a file that it changed was there before.
func (r Run) explains(name string) bool {
	if r.InPlace {
		name = path.Dir(name)
	}
	return r.hasWritten(name)
}

// hasMissed reports whether nothing was at a path when the task first used it.
func (r Run) hasMissed(name string) bool {
	seen, isUsed := r.seen[name]
	return isUsed && !seen
}

// isReplaced reports whether a file is another one than the one that the task found at a path.
func (r Run) isReplaced(name string, now fs.FileInfo) bool {
	was, ok := r.inode[name]
	return ok && world.Inode(now) != 0 && world.Inode(now) != was
}

// tick is by how much the time of a change of a file may be behind the clock.
const tick = 10 * time.Millisecond

// ChangedMeanwhile returns the first path of a list at which somebody else changed something while a task
// ran, also if it is as before now: nobody knows which bytes the task read. ok is false if there is none.
//
// A folder that was listed, or in which a name was looked for in vain, has changed if a file of the tree is gone or
// was made anew in it, or if names came and went. Names that came and are there still do not count: tasks make them.
func (w World) ChangedMeanwhile(l List, run Run) (name string, ok bool) {
	run.Since = run.Since.Add(-tick)
	for _, r := range l {
		isOther := w.IsOther(r.Path)
		if run.wrote[r.Path] || path.Base(r.Path) == ".git" || !isOther && !run.InPlace {
			continue
		}
		if w.changedMeanwhile(r, run) || w.movedMeanwhile(r.Path, run) {
			return r.Path, true
		}
	}
	return "", false
}

// FirstChanged returns the first file of the tree that somebody changed in the checkout since a time, also if it
// is as before now; "" if there is none.
func (w World) FirstChanged(since time.Time) string {
	since = since.Add(-tick)
	for _, f := range w.Tree.Files() {
		if (f.Kind() == world.Regular || f.Kind() == world.Link) && w.fileChanged(f, since) {
			return f.Path
		}
	}
	return ""
}

// fileChanged reports whether the checkout has another file than the tree, or has it only since a time.
func (w World) fileChanged(f world.File, since time.Time) bool {
	same, err := w.Tree.IsOnDisk(f, since)
	if err != nil || !same {
		return true
	}
	info, err := os.Lstat(w.onDisk(f.Path))
	return err != nil || isSince(info, since)
}

// movedMeanwhile reports whether a folder above a path was moved, and is back: its names did not change, and it did.
func (w World) movedMeanwhile(name string, run Run) bool {
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		info, err := os.Lstat(w.onDisk(folder))
		if err == nil && info.IsDir() && isSince(info, run.Since) && info.ModTime().Before(run.Since) && !run.wrote[folder] {
			return true
		}
	}
	return false
}

func (w World) changedMeanwhile(r Read, run Run) bool {
	f, kind, isTracked := w.Tree.Lookup(r.Path)
	isFile := isTracked && (kind == world.Regular || kind == world.Link)
	info, err := os.Lstat(w.onDisk(r.Path))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil && isTracked:
		return kind != world.Submodule
	case err != nil:
		return run.seen[r.Path] && !run.hasWritten(r.Path) || w.folderChanged(path.Dir(r.Path), run)
	case isFile && run.hasMissed(r.Path) || run.isReplaced(r.Path, info):
		return true
	case r.Lists:
		return isTracked && w.lacks(r.Path, run) || w.folderChanged(r.Path, run)
	case info.IsDir():
		return isFile
	case isFile:
		return w.fileChanged(f, run.Since)
	case isTracked:
		return false
	}
	return isSince(info, run.Since)
}

// folderChanged reports whether names of a folder changed, or of the next one above it that is there.
func (w World) folderChanged(folder string, run Run) bool {
	info, err := os.Lstat(w.onDisk(folder))
	for err != nil && folder != "." {
		folder = path.Dir(folder)
		info, err = os.Lstat(w.onDisk(folder))
	}
	if err != nil || !info.IsDir() || !isSince(info, run.Since) {
		return err != nil
	}
	isExplained := false
	for name, wrote := range run.wrote {
		isExplained = isExplained || wrote && path.Dir(name) == folder && name != folder // it did so itself
	}
	entries, err := os.ReadDir(w.onDisk(folder))
	if err != nil {
		return true
	}
	tracked := w.namesIn(folder)
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil: // it went while we looked
			return true
		case e.Name() == ".git" || !isSince(info, run.Since) || tracked[e.Name()] && info.IsDir():
		case !tracked[e.Name()]:
			isExplained = true
		case !run.wrote[path.Join(folder, e.Name())]:
			return true
		}
	}
	return !isExplained
}

// lacks reports whether a name of the tree is not in a folder, which the task has not taken away: it may have
// gone before the task began.
func (w World) lacks(folder string, run Run) bool {
	entries, err := os.ReadDir(w.onDisk(folder))
	gone := w.namesIn(folder)
	for _, e := range entries {
		delete(gone, e.Name())
	}
	for name := range gone {
		if !run.wrote[path.Join(folder, name)] {
			return true
		}
	}
	return err != nil
}

// namesIn returns the names that the tree has in a folder.
func (w World) namesIn(folder string) map[string]bool {
	out := map[string]bool{}
	names, _ := w.Tree.Names(folder)
	for _, name := range names {
		out[strings.TrimSuffix(name, "/")] = true
	}
	return out
}

// onDisk returns the name of a path of the checkout.
func (w World) onDisk(name string) string { return filepath.Join(w.Root, filepath.FromSlash(name)) }

// isSince reports whether a file was made or changed since a time.
func isSince(info fs.FileInfo, since time.Time) bool { return !world.ChangeTime(info).Before(since) }
