package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A Commit is a commit of a repository. Its files are read from git's object store; the index and the working tree are
// not looked at.
type Commit struct {
	dir  string // a folder of the repository
	hash string
	tree string
	time string
}

// OpenCommit finds a commit in the repository of a folder. The revision is anything that git rev-parse takes: a branch,
// a tag, a hash.
func OpenCommit(ctx context.Context, dir, revision string) (*Commit, error) {
	if revision == "" || strings.HasPrefix(revision, "-") || strings.ContainsAny(revision, "\x00\n") {
		return nil, fmt.Errorf("%q is no revision: name a branch, a tag or a commit", revision)
	}
	c, err := pinned(ctx, "commit", dir, revision, func() (Commit, error) { return readCommit(ctx, dir, revision) })
	if err != nil {
		return nil, err
	}
	c.dir = dir
	return &c, nil
}

// readCommit asks git for a commit.
func readCommit(ctx context.Context, dir, revision string) (Commit, error) {
	out, err := runWith(ctx, dir, revision+"^{commit}\n", "cat-file", "--batch")
	if err != nil {
		return Commit{}, err
	}
	head, text, _ := bytes.Cut(out, []byte("\n"))
	words := strings.Fields(string(head))
	if len(words) != 3 || words[1] != "commit" {
		return Commit{}, fmt.Errorf("repository %q has no commit %q: fetch it first", dir, revision)
	}
	tree, _, _ := strings.Cut(strings.TrimPrefix(string(text), "tree "), "\n")
	return Commit{hash: words[0], tree: tree, time: commitTime(text)}, nil
}

// Hash returns the full hash of the commit.
func (c *Commit) Hash() string { return c.hash }

// TreeID returns git's id of the commit's files.
func (c *Commit) TreeID() string { return c.tree }

// Time returns when the commit was made, in unix seconds.
func (c *Commit) Time() string { return c.time }

// Dir returns the folder that the commit was opened in.
func (c *Commit) Dir() string { return c.dir }

// commitTime finds the committer's time in the text of a commit.
func commitTime(commit []byte) string {
	header, _, _ := bytes.Cut(commit, []byte("\n\n"))
	for line := range strings.Lines(string(header)) {
		if committer, ok := strings.CutPrefix(line, "committer "); ok {
			if words := strings.Fields(committer); len(words) > 1 {
				return words[len(words)-2]
			}
		}
	}
	return ""
}

// An Entry is a file, a link or a submodule of a commit.
type Entry struct {
	Name   string // path below the folder that was listed
	ID     string // git's id of the content
	Kind   Kind
	Target string // where a link leads
}

// Kind says what an entry of a commit is.
type Kind int

// The kinds of entries. Other is a submodule, or a folder.
const (
	File Kind = iota
	Link
	Other
)

func (k Kind) String() string { return [...]string{"a file", "a link", "neither a file nor a link"}[k] }

// kindOf returns the kind that a mode of git stands for.
func kindOf(mode string) Kind {
	switch mode {
	case "100644", "100755", "100664":
		return File
	case "120000":
		return Link
	}
	return Other
}

// ObjectIDs returns git's ids of files and folders of the commit, "" where the commit has no such path. A folder's id
// stands for everything in it.
func (c *Commit) ObjectIDs(ctx context.Context, names ...string) ([]string, error) {
	return c.objects(ctx, names, "tree", "blob")
}

// objects returns git's ids of paths that are of some kinds, "" for all others.
func (c *Commit) objects(ctx context.Context, names []string, kinds ...string) ([]string, error) {
	var asked strings.Builder
	for _, name := range names {
		if strings.Contains(name, "\n") {
			return nil, fmt.Errorf("%q has a line break: rename it", name)
		}
		asked.WriteString(c.object(name) + "\n")
	}
	out, err := runWith(ctx, c.dir, asked.String(), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names) {
		return nil, errors.New("git cat-file printed a line that was not expected")
	}
	ids := make([]string, len(names))
	for i, line := range lines {
		if id, kind, _ := strings.Cut(line, " "); slices.Contains(kinds, kind) {
			ids[i] = id
		}
	}
	return ids, nil
}

// HasFiles reports which paths of the commit are files or links, also through links to folders. A name with a line
// break may be one.
func (c *Commit) HasFiles(ctx context.Context, paths []string) ([]bool, error) {
	out := make([]bool, len(paths))
	var asked []string
	var at []int
	for i, name := range paths {
		if out[i] = strings.Contains(name, "\n"); !out[i] {
			asked, at = append(asked, name), append(at, i)
		}
	}
	if len(asked) == 0 {
		return out, nil
	}
	ids, err := c.objects(ctx, asked, "blob")
	var left []string
	var leftAt []int
	for i, id := range ids {
		if out[at[i]] = id != ""; id == "" && strings.Contains(asked[i], "/") {
			left, leftAt = append(left, asked[i]), append(leftAt, at[i])
		}
	}
	if err != nil || len(left) == 0 {
		return out, err
	}
	behind, err := c.areBehindLinks(ctx, left)
	for i, is := range behind {
		out[leftAt[i]] = is
	}
	return out, err
}

// areBehindLinks reports which paths lead through links to a file of the commit.
func (c *Commit) areBehindLinks(ctx context.Context, paths []string) ([]bool, error) {
	var in strings.Builder
	for _, p := range paths {
		in.WriteString(c.object(p) + "\n")
	}
	raw, err := runWith(ctx, c.dir, in.String(), "cat-file", "--batch-check", "--follow-symlinks")
	if err != nil {
		return nil, err
	}
	out, text := make([]bool, len(paths)), string(raw)
	for i := range out {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		words := strings.Fields(line)
		out[i] = len(words) == 3 && words[1] == "blob"
		// "symlink 4", "dangling 9", "loop 5" and "notdir 7" are followed by so many bytes.
		if len(words) != 2 {
			continue
		}
		if size, err := strconv.Atoi(words[1]); err == nil && size < len(text) {
			text = text[size+1:]
		}
	}
	return out, nil
}

// object is how git names a path of the commit; "." is the root.
func (c *Commit) object(name string) string { return c.hash + ":" + strings.TrimPrefix(name, ".") }

// HasFolder reports whether the commit has a folder of that name; "." is the root. The error is that of the context.
func (c *Commit) HasFolder(ctx context.Context, name string) (bool, error) {
	kind, err := run(ctx, c.dir, "cat-file", "-t", c.object(name))
	return err == nil && string(kind) == "tree\n", ctx.Err()
}

// HasPath reports whether the commit has a file, a link or a folder of that name. An error says that git cannot tell,
// for instance because the clone lacks a part of the commit.
func (c *Commit) HasPath(ctx context.Context, name string) (bool, error) {
	out, err := run(ctx, c.dir, "ls-tree", "-z", "--full-tree", c.hash, "--", name)
	return len(out) > 0, err
}

// List returns all files, links and submodules below a folder of the commit.
func (c *Commit) List(ctx context.Context, folder string) ([]Entry, error) {
	out, err := run(ctx, c.dir, "ls-tree", "-r", "-z", "--full-tree", c.object(folder))
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte{0})
		out = rest
		about, name, _ := bytes.Cut(line, []byte("\t"))
		words := strings.Fields(string(about))
		if len(words) != 3 {
			return nil, fmt.Errorf("git ls-tree printed %q: not what was expected", line)
		}
		entries = append(entries, Entry{Name: string(name), ID: words[2], Kind: kindOf(words[0])})
	}
	return entries, c.readTargets(ctx, entries)
}

// maxTarget bounds the length of the text of a link, in bytes.
const maxTarget = 4096

// readTargets fills in where the links among the entries lead.
func (c *Commit) readTargets(ctx context.Context, entries []Entry) (err error) {
	r := c.Blobs(ctx)
	defer func() { err = errors.Join(err, r.Close()) }()
	for i, e := range entries {
		if e.Kind != Link {
			continue
		}
		raw, err := r.Read(e.ID, maxTarget)
		if err != nil {
			return err
		}
		entries[i].Target = string(raw)
	}
	return nil
}

// ReadFile returns the bytes of one file of the commit. Of a file larger than limit it returns limit and one more. The
// error is [fs.ErrNotExist] when the commit has nothing of that name. Links are not followed.
func (c *Commit) ReadFile(ctx context.Context, name string, limit int) (raw []byte, err error) {
	if name != path.Clean(name) || path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return nil, fmt.Errorf("%q does not lie in the repository", name)
	}
	out, err := run(ctx, c.dir, "ls-tree", "-z", "--full-tree", c.hash, "--", name)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(out))
	if len(words) < 4 {
		return nil, fmt.Errorf("commit %.12s has no file %q: %w", c.hash, name, fs.ErrNotExist)
	}
	if kind := kindOf(words[0]); kind != File {
		return nil, fmt.Errorf("%q of commit %.12s is %s, not a file", name, c.hash, kind)
	}
	r := c.Blobs(ctx)
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Read(words[2], limit)
}

// Short returns the first twelve digits of a hash, for people.
func Short(hash string) string { return hash[:min(len(hash), 12)] }

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
