package gitlabtest

import (
	"io/fs"
	"maps"
	"os"
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
	s.refs = map[string]string{}
	must(filepath.WalkDir(s.refPath("refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		raw, err := os.ReadFile(path)
		s.refs[filepath.ToSlash(strings.TrimPrefix(path, s.dir+string(filepath.Separator)))] = strings.TrimSpace(string(raw))
		return err
	}))
	return s.refs
}

// flushRefs writes the references that changed to the disk.
func (s *store) flushRefs() {
	for _, ref := range slices.Sorted(maps.Keys(s.unpointed)) {
		if s.refs[ref] == "" {
			_ = os.Remove(s.refPath(ref)) // it may never have been there
		}
	}
	for ref := range s.unpointed {
		path := s.refPath(ref)
		if s.refs[ref] == "" {
			continue
		}
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			must(os.Remove(path)) // folders of branches that are gone
		}
		must(os.WriteFile(path+".new", []byte(s.refs[ref]+"\n"), 0o644))
		must(os.Rename(path+".new", path))
	}
	s.unpointed = map[string]bool{}
}

// head returns the commit of a branch, "" if there is no such branch.
func (s *store) head(branch string) string { return s.allRefs()[heads+branch] }

// point lets a reference point to a commit, or removes it if the id is "". It reports whether the
// name can be had: a and a/b cannot both be branches.
func (s *store) point(ref, id string) bool {
	all := s.allRefs()
	if id == "" {
		_, was := all[ref]
		delete(all, ref)
		s.unpointed[ref] = true
		return was
	}
	for other := range all {
		if strings.HasPrefix(other, ref+"/") || strings.HasPrefix(ref, other+"/") {
			return false
		}
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
