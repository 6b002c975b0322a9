package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A WorkFile is a file or a link of a working tree.
type WorkFile struct {
	Path    string // below the root of the working tree
	Tracked bool
	// ID is git's mode and id of the content, such as "100644 1fe9…". It is "" when the content is not known without
	// reading the file.
	ID string
}

// ListWorkTree returns the files of a working tree that git tracks or does not ignore, for which want is true. A
// folder with a repository of its own, such as a submodule, contributes its files. Names lists the names of all files,
// links and other entries of the working tree that are no folders, which saves asking git for them; it may be nil.
func ListWorkTree(ctx context.Context, root string, names func() ([]string, error), want func(path string) bool) ([]WorkFile, error) {
	all, err := readEntries(ctx, root)
	if err != nil {
		return nil, err
	}
	index, err := listIndex(ctx, root, all, want)
	if err != nil {
		return nil, err
	}
	others, err := listOthers(ctx, root, all, names)
	if err != nil {
		return nil, err
	}
	var out []WorkFile
	var nested []string
	for _, e := range index {
		f := WorkFile{Path: e.path, Tracked: true}
		switch {
		case e.isSubmodule():
			nested = append(nested, e.path)
			f.ID = e.mode + " " + e.id
		case e.isUnchanged && kindOf(e.mode) == File:
			f.ID = e.mode + " " + e.id
		}
		out = append(out, f)
	}
	for _, name := range others {
		switch folder, isFolder := strings.CutSuffix(name, "/"); {
		case isFolder:
			nested = append(nested, folder)
		case want(name):
			out = append(out, WorkFile{Path: name})
		}
	}
	for _, folder := range nested {
		files, err := listNested(ctx, root, folder, want)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// listNested lists the files of a repository that lies in another one. A submodule that is not checked out has none.
func listNested(ctx context.Context, root, folder string, want func(path string) bool) ([]WorkFile, error) {
	dir := filepath.Join(root, filepath.FromSlash(folder))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		return nil, nil //nolint:nilerr // it is no folder, and the files of the index tell so
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		return nil, fmt.Errorf("%q: it has files, but is not a checked out submodule", folder)
	}
	files, err := ListWorkTree(ctx, dir, nil, func(name string) bool { return want(path.Join(folder, name)) })
	for i := range files {
		files[i].Path = path.Join(folder, files[i].Path)
	}
	return files, err
}

// Ignores reports whether git ignores a folder, so that it lists none of the files below it.
func Ignores(ctx context.Context, root, dir string) bool {
	name, err := filepath.Rel(root, dir)
	if err != nil {
		return false
	}
	name = filepath.ToSlash(name)
	out, err := run(ctx, root, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z", "--", name)
	isAround := func(ignored string) bool {
		return strings.HasSuffix(ignored, "/") && strings.HasPrefix(name+"/", ignored)
	}
	return err == nil && slices.ContainsFunc(splitZero(out), isAround)
}

// splitZero splits names that end with a zero byte.
func splitZero(out []byte) []string {
	names := make([]string, 0, bytes.Count(out, []byte{0}))
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
