//go:build unix

package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A file is one entry of a tree: a regular file, or a link if Link is not empty.
type file struct {
	Text string `json:"text,omitempty"`
	Exec bool   `json:"exec,omitempty"`
	Link string `json:"link,omitempty"`
}

// A tree holds files by their path from the root of a repository.
type tree map[string]file

// lay makes a folder that holds the tree from hold the tree to. It writes only what differs.
func lay(dir string, from, to tree) error {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if got, ok := to[name]; ok && got == from[name] {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		prune(dir, filepath.Dir(name))
	}
	for _, name := range slices.Sorted(maps.Keys(to)) {
		if had, ok := from[name]; ok && had == to[name] {
			continue
		}
		if err := write(filepath.Join(dir, name), to[name]); err != nil {
			return err
		}
	}
	return nil
}

// prune removes a folder and the folders above it as long as they are empty, as git does.
func prune(root, dir string) {
	for dir != "." && os.Remove(filepath.Join(root, dir)) == nil {
		dir = filepath.Dir(dir)
	}
}

// write makes one file. The file must not exist.
func write(name string, f file) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // as git makes it
		return err
	}
	if f.Link != "" {
		return os.Symlink(f.Link, name)
	}
	mode := fs.FileMode(0o644)
	if f.Exec {
		mode = 0o755
	}
	return os.WriteFile(name, []byte(f.Text), mode)
}

// build makes the files that git ignores.
func build(dir string, t tree) error {
	if err := os.RemoveAll(filepath.Join(dir, "build")); err != nil {
		return err
	}
	for name, text := range ignoredFiles(t) {
		if err := write(filepath.Join(dir, name), file{Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// ignoredFiles returns the files that git ignores, with their texts: build/X.txt of each src/X.src.
func ignoredFiles(t tree) map[string]string {
	out := map[string]string{}
	for name, f := range t {
		if base, ok := strings.CutPrefix(name, "src/"); ok && f.Link == "" && strings.HasSuffix(base, ".src") {
			out["build/"+strings.TrimSuffix(base, ".src")+".txt"] = f.Text
		}
	}
	return out
}

// resolve returns the path to which a path leads through the links of the tree. Links are
// followed at any place of the path.
func (t tree) resolve(name string) string {
	for range 20 {
		next, ok := t.step(name)
		if !ok {
			return name
		}
		name = next
	}
	return name
}

// step follows the first link of a path.
func (t tree) step(name string) (string, bool) {
	parts := strings.Split(name, "/")
	for i := range parts {
		prefix := strings.Join(parts[:i+1], "/")
		if f, ok := t[prefix]; ok && f.Link != "" {
			rest := strings.Join(parts[i+1:], "/")
			return filepath.Join(filepath.Dir(prefix), f.Link, rest), true
		}
	}
	return name, false
}

// entries returns the names in a folder, sorted. That of the repository is ".".
func (t tree) entries(dir string) []string {
	names := map[string]bool{}
	for name := range t {
		rest, inside := strings.CutPrefix(name, dir+"/")
		if inside || dir == "." {
			first, _, _ := strings.Cut(rest, "/")
			names[first] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// matching returns the paths that some patterns match, sorted: a path, or all below a folder.
func (t tree) matching(patterns []string) []string {
	var out []string
	for name := range t {
		if slices.ContainsFunc(patterns, func(p string) bool {
			folder, isFolder := strings.CutSuffix(p, "/**")
			return name == p || isFolder && strings.HasPrefix(name, folder+"/")
		}) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// below returns the paths below a folder, sorted.
func (t tree) below(dir string) []string {
	var out []string
	for name := range t {
		if strings.HasPrefix(name, dir+"/") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
