package git

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A ChangedPath is a path that differs.
type ChangedPath struct {
	Path string
	Kind PathChange
}

// A PathChange says on which sides a path is.
type PathChange int

// The changes of paths.
const (
	PathModified PathChange = iota
	PathAdded
	PathDeleted
)

// ChangedPaths lists the paths of the repository that differ between two commits. When head
// is "" it compares base with the working tree, including new files that git does not ignore.
func (r *Repository) ChangedPaths(ctx context.Context, base, head string) ([]ChangedPath, error) {
	args := []string{"diff", "--name-status", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none", "-z", base}
	if head != "" {
		args = append(args, head)
	}
	found, err := run(ctx, r.root, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	words := splitZero(found)
	var out []ChangedPath
	kinds := map[string]PathChange{"A": PathAdded, "D": PathDeleted}
	for i := 0; i+1 < len(words); i += 2 {
		out = append(out, ChangedPath{words[i+1], kinds[words[i]]})
	}
	if head != "" {
		return out, nil
	}
	more, err := run(ctx, r.root, "ls-files", "--others", "--exclude-standard", "-z")
	for _, name := range splitZero(more) {
		out = append(out, ChangedPath{name, PathAdded})
	}
	return out, err
}

// HasPath reports whether one of the commits has a path. A commit also counts when it has a
// file or a link where the path needs a folder: it then decides what the path means. An error
// is that of the context.
func (r *Repository) HasPath(ctx context.Context, name string, commits ...string) (bool, error) {
	for _, commit := range commits {
		for at := name; at != "."; at = path.Dir(at) {
			kind, err := run(ctx, r.root, "cat-file", "-t", commit+":"+at)
			if ctx.Err() != nil {
				return true, ctx.Err()
			}
			if err == nil && (at == name || string(kind) != "tree\n") {
				return true, nil
			}
		}
	}
	return false, nil
}

// Tracked returns a path that the index has at or below one of the paths, or "" if it has
// none of them.
func (r *Repository) Tracked(ctx context.Context, paths ...string) (string, error) {
	out, err := run(ctx, r.root, append([]string{"ls-files", "-z", "--cached", "--"}, paths...)...)
	first, _, _ := strings.Cut(string(out), "\x00")
	return first, err
}

// PathOf returns the path in the repository of a file name on disk, and whether the file lies
// in the repository: by its name, or where the links of its folder lead.
func (r *Repository) PathOf(name string) (string, bool) { return PathIn(r.root, name) }

// PathIn is [Repository.PathOf] for the repository with this root.
func PathIn(root, name string) (string, bool) {
	if !filepath.IsAbs(name) {
		dir, err := currentFolder()
		if err != nil {
			return "", false
		}
		name = filepath.Join(dir, name)
	}
	names := []string{filepath.Clean(name)}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		names = append(names, filepath.Join(dir, filepath.Base(name)))
	}
	for _, name := range names {
		rel, err := filepath.Rel(root, name)
		if rel = filepath.ToSlash(rel); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return rel, true
		}
	}
	return "", false
}

// IsCurrent reports whether the current folder is the root of the repository.
func (r *Repository) IsCurrent() bool {
	dir, err := currentFolder()
	return err == nil && dir == r.root
}

// currentFolder returns the current folder without links.
func currentFolder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, nil
}

// RootOf returns the folder with ".git" that a folder lies in, and the folder itself when
// there is none. It does not start git.
func RootOf(folder string) string {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return folder
		}
	}
}

// LastCommit returns the last commit after one commit and up to another that changed a path, ""
// if that is not known. It follows first parents, so it names the merge that brought a change to
// a branch. A commit without parents is not believed: it may be where a shallow clone ends.
func (r *Repository) LastCommit(ctx context.Context, after, upTo, path string) (string, error) {
	out, err := run(ctx, r.root, "rev-list", "-1", "--first-parent", "^"+after, upTo, "--", path)
	commit := strings.TrimSpace(string(out))
	if err != nil || commit == "" {
		return "", err
	}
	out, err = run(ctx, r.root, "rev-list", "--no-walk", "--parents", commit)
	if len(strings.Fields(string(out))) < 2 {
		return "", err
	}
	return commit, nil
}
