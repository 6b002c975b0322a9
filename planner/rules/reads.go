package rules

import (
	"path"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

// Reads are the files that runs of an integration read, as they are remembered.
type Reads struct {
	// Paths are those of files, sorted; that of a folder that was listed has a slash at its end.
	Paths []string
	// All tells that more files were read than are remembered.
	All bool
}

// isRecorded reports whether any run was recorded.
func (r Reads) isRecorded() bool { return r.All || len(r.Paths) > 0 }

// has reports whether a path was read.
func (r Reads) has(at string) bool {
	_, ok := slices.BinarySearch(r.Paths, at)
	return ok
}

// reads returns what is remembered of an integration.
func (f *finder) reads(name string) Reads {
	if f.Reads == nil {
		return Reads{}
	}
	return f.Reads(name)
}

// mayRead reports whether runs have shown that an integration reads a changed path: the file
// itself, or the names in a folder that it adds to or takes from.
func (f *finder) mayRead(r Reads, p string) bool {
	if r.All || r.has(p) {
		return true
	}
	return slices.ContainsFunc(f.listings(p), func(folder string) bool { return r.has(folder + "/") })
}

// listings returns the folders whose names may differ because a changed path is only on one side:
// its folder, and those above it, in which its folder may be new.
func (f *finder) listings(p string) []string {
	var out []string
	for at := p; (f.New[p] || f.Gone[p]) && at != "."; {
		at = path.Dir(at)
		out = append(out, at)
	}
	return out
}

// isUnread reports whether nobody knows which files an integration reads, although its command
// may use files of the repository, and some of these changed.
func (f *finder) isUnread(it settings.Integration) bool {
	if _, isNative := integration.FindNative(f.Natives, it); isNative {
		return false
	}
	return len(f.paths) > 0 && len(it.Exec.Argv) > 0 && !it.Programs.None && !f.reads(it.Name).isRecorded()
}

// mayUse reports whether the command of an integration may use a changed file: by its own path,
// or by one that leads there through a link. A pattern that names a file of the data makes it a
// program, and so does a run that has read it. As long as no run was recorded, the texts of a
// program that lives in the repository tell whether it may find a new file, or open a file of the
// data.
func (f *finder) mayUse(it settings.Integration, p string) bool {
	r := f.reads(it.Name)
	if f.mayRead(r, p) {
		return true
	}
	isNamed := it.Programs.Globs != nil
	isIncluded := func(path string) bool { return it.Programs.Include(path) && (isNamed || !f.IsData(path)) }
	if f.unsure && !it.Programs.None || slices.ContainsFunc(f.behind[p], isIncluded) {
		return true
	}
	if !isNamed && !it.Programs.None && !r.isRecorded() && f.isWord(it.Name, p) {
		return true
	}
	known := f.programOf(it.Name)
	switch {
	case isIncluded(p):
		return isNamed || known == nil || r.isRecorded() || !f.New[p] || known.mayReach(p)
	case it.Programs.None || isNamed || known == nil || r.isRecorded() || !f.IsData(p) || p == f.Settings.Path:
		return false
	}
	return known.mayOpen(p)
}

// isWord reports whether a word of the command of an integration names a changed file: by its own
// path, or by one that leads there through a link.
func (f *finder) isWord(name, p string) bool {
	if f.Named == nil {
		return false
	}
	named := f.Named(name)
	return slices.Contains(named, p) || slices.ContainsFunc(f.behind[p], func(at string) bool {
		return slices.Contains(named, at)
	})
}
