package git

import (
	"context"
	"errors"
	"path"
	"strings"
)

// A TreeEntry is a file, a link or a submodule of a commit, with git's mode.
type TreeEntry struct{ Path, Mode, ID string }

// ListTree lists all files, links and submodules of the commit, in git's order. It reads no content.
func (c *Commit) ListTree(ctx context.Context) ([]TreeEntry, error) {
	rest, err := runLong(ctx, c.dir, "ls-tree", "-r", "-z", "--full-tree", c.hash)
	if err != nil {
		return nil, err
	}
	entries := make([]TreeEntry, 0, strings.Count(rest, "\x00"))
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\x00")
		rest = after
		about, name, ok := strings.Cut(line, "\t")
		mode, kindAndID, _ := strings.Cut(about, " ")
		_, id, found := strings.Cut(kindAndID, " ")
		if !ok || !found || name == "" {
			return nil, errors.New("git ls-tree printed a line that was not expected")
		}
		entries = append(entries, TreeEntry{name, mode, id})
	}
	return entries, nil
}

// SubmoduleNames returns the names of the commit's submodules by their paths, as its file .gitmodules says. Names that
// could lead out of the folder in which git keeps submodules are left out, as git does.
func (c *Commit) SubmoduleNames(ctx context.Context) (map[string]string, error) {
	out, err := run(ctx, c.dir, "config", "--blob", c.hash+":.gitmodules", "-z", "--get-regexp",
		`^submodule\..*\.path$`)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // it has no such file, or none that git can read
	}
	names := map[string]string{}
	for _, line := range splitZero(out) {
		key, at, _ := strings.Cut(line, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		if isSafeName(name) {
			names[at] = name
		}
	}
	return names, nil
}

// isSafeName reports whether the name of a submodule is a path that stays in the folder of all submodules.
func isSafeName(name string) bool {
	return name != "" && name != "." && name == path.Clean(name) && !path.IsAbs(name) &&
		!strings.ContainsAny(name, "\\:\x00\n") &&
		!strings.HasPrefix(name, "-") && name != ".." && !strings.HasPrefix(name, "../")
}
