package files

import (
	"os"
	"path"
	"slices"

	"github.com/app-sre/prcheck/world"
)

// foundBy returns what a task found at a path when it first used it. What the task did there itself does not count. Of
// a folder that others may write to it is known only what the record says of it.
func (w World) foundBy(run Run, name string, lists bool) string {
	isOther := w.IsOther(name)
	switch {
	case path.Base(name) == ".git" || !isOther && !run.InPlace:
		return w.Found(name, lists)
	case lists:
		return w.listedBy(run, name, isOther)
	case !isOther && run.wrote[name] && w.isTrackedFile(name):
		return unknown // another task may have changed it before this one did
	case !isOther || !run.hasWritten(name):
		return w.Found(name, false)
	case !run.seen[name]:
		return missing
	}
	before := run.first[name].Before
	if before == nil {
		return unknown
	}
	return otherContent(before.IsProgram, before.SHA256)
}

// isTrackedFile reports whether the side has a file or a link at a path.
func (w World) isTrackedFile(name string) bool {
	_, kind, ok := w.Tree.Lookup(name)
	return ok && (kind == world.Regular || kind == world.Link)
}

// listedBy returns what a task found in a folder that others may write to. It is unknown if the task may have seen
// names of others: they are not of the side, so that no other world has them.
func (w World) listedBy(run Run, folder string, isOther bool) string {
	first, ok := run.first[folder]
	if !ok || first.Names == nil || first.Unsteady || w.gained(run, folder, first.Names) {
		return unknown
	}
	if isOther {
		return "folder " + digestNames(slices.DeleteFunc(slices.Clone(first.Names), isCompiled))
	}
	side := w.namesIn(folder)
	for _, name := range w.OthersIn(folder) {
		side[name] = true
	}
	for _, name := range first.Names {
		if !side[name] && w.isForeign(path.Join(folder, name)) {
			return unknown
		}
		delete(side, name)
	}
	for name := range side {
		if !isSubmodule(w, path.Join(folder, name)) {
			return unknown
		}
	}
	return w.Found(folder, true)
}

// isSubmodule reports whether a path is the folder of a submodule, which a checkout need not have.
func isSubmodule(w World, name string) bool {
	_, kind, ok := w.Tree.Lookup(name)
	return ok && kind == world.Submodule
}

// gained reports whether names of others came into a folder since a task began, and are there now: a task that reads
// the names of an open folder a second time, or slowly, may have seen them.
func (w World) gained(run Run, folder string, before []string) bool {
	info, err := os.Lstat(w.onDisk(folder))
	if err != nil || !isSince(info, run.Since.Add(-tick)) {
		return err != nil
	}
	entries, err := os.ReadDir(w.onDisk(folder))
	return err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		_, isOld := slices.BinarySearch(before, e.Name())
		name := path.Join(folder, e.Name())
		return !isOld && (!run.wrote[name] || run.seen[name]) && w.isForeign(name)
	})
}

// isForeign reports whether a name that is not of the side is one of somebody else: it is neither git's, nor follows
// from other files, nor is it prcheck's own. A folder that has files of prcheck and nothing else is prcheck's.
func (w World) isForeign(name string) bool {
	switch {
	case path.Base(name) == ".git" || isCompiled(name):
		return false
	case w.IsOwn == nil:
		return true
	case w.IsOwn(name):
		return false
	}
	entries, err := os.ReadDir(w.onDisk(name))
	return err != nil || len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return !w.IsOwn(path.Join(name, e.Name()))
	})
}
