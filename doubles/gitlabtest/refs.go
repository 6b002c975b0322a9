package gitlabtest

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultBranch is the branch that a [Repository] starts with.
const DefaultBranch = "main"

const heads = "refs/heads/"

// refPath returns the file that holds a reference.
func (s *store) refPath(ref string) string { return filepath.Join(s.dir, filepath.FromSlash(ref)) }

// allRefs returns the commits of all references. After a git client pushed they are read anew.
func (s *store) allRefs() map[string]string {
	if s.refs != nil {
		return s.refs
	}
	s.refs, s.folders = map[string]string{}, map[string]int{}
	must(filepath.WalkDir(s.refPath("refs"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(file, ".lock") {
			return err
		}
		raw, err := os.ReadFile(file)
		ref := filepath.ToSlash(strings.TrimPrefix(file, s.dir+string(filepath.Separator)))
		s.refs[ref] = strings.TrimSpace(string(raw))
		s.countFolders(ref, 1)
		return err
	}))
	return s.refs
}

// countFolders notes that a reference is in its folders, or no longer.
func (s *store) countFolders(ref string, n int) {
	for folder := path.Dir(ref); folder != "."; folder = path.Dir(folder) {
		s.folders[folder] += n
	}
}

// flushRefs writes the references that changed to the disk.
func (s *store) flushRefs() {
	for _, ref := range slices.Sorted(maps.Keys(s.unpointed)) {
		if s.refs[ref] == "" {
			_ = os.Remove(s.refPath(ref)) // it may never have been there
		}
	}
	for ref := range s.unpointed {
		file := s.refPath(ref)
		if s.refs[ref] == "" {
			continue
		}
		must(os.MkdirAll(filepath.Dir(file), 0o755))
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			must(os.Remove(file)) // folders of branches that are gone
		}
		must(os.WriteFile(file+".new", []byte(s.refs[ref]+"\n"), 0o644))
		must(os.Rename(file+".new", file))
	}
	s.unpointed = map[string]bool{}
}

// head returns the commit of a branch, "" if there is no such branch.
func (s *store) head(branch string) string { return s.allRefs()[heads+branch] }

// point lets a reference point to a commit, or removes it if the id is "". It reports whether the
// name can be had: a and a/b cannot both be branches.
func (s *store) point(ref, id string) bool {
	all := s.allRefs()
	_, was := all[ref]
	if id == "" {
		if delete(all, ref); was {
			s.countFolders(ref, -1)
		}
		s.unpointed[ref] = true
		return was
	}
	for folder := path.Dir(ref); !was && folder != "."; folder = path.Dir(folder) {
		if all[folder] != "" {
			return false
		}
	}
	switch {
	case was:
	case s.folders[ref] > 0:
		return false
	default:
		s.countFolders(ref, 1)
	}
	all[ref] = id
	s.unpointed[ref] = true
	return true
}

// branches returns the names of all branches, sorted.
func (s *store) branches() []string {
	var out []string
	for ref := range s.allRefs() {
		if name, isBranch := strings.CutPrefix(ref, heads); isBranch {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
