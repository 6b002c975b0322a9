package git

import (
	"context"
	"errors"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A State is what git and the disk say of a working tree: the index beside what lies in the place of its files, and the
// files that git does not track. No content was read.
type State struct {
	Commit   string      // that HEAD stands for, "" when there is none yet
	Settings Settings    // those that decide about bytes and modes
	Files    []IndexFile // of the index, each path once, sorted
	Others   []string    // neither tracked nor ignored; a repository has a slash at the end of its name
	// Staged is what HEAD has where the index has something else; without a mode, HEAD has nothing there.
	Staged map[string]TreeEntry
}

// An IndexFile is a file, link or submodule of the index, and what the working tree has in its place.
type IndexFile struct {
	Path, Mode, ID string
	IsHidden       bool // git is told not to look at the file in the working tree
	IsSkipped      bool // git is told to leave it out of the working tree
	IsAnnounced    bool // git has no content of it (git add -N)
	IsUnchanged    bool // a file, and nothing has happened to it since git wrote or read it
	IsConverted    bool // git may have changed the bytes on their way from the object store
	IsText         bool // git may have changed the line ends on this way
	Found          Found
	size           uint32 // of the file when git looked at it
}

// Found says what a working tree has at a path.
type Found int

// What a working tree may have at a path. Absent is also said of a path below a link.
const (
	Absent Found = iota
	PlainFile
	Program // a file that its owner may execute
	SymbolicLink
	Folder
	Special // a pipe, a socket or a device
)

func (f Found) String() string {
	return [...]string{"absent", "a file", "a program", "a link", "a folder", "neither a file nor a folder"}[f]
}

// errNoCommit says that HEAD is a branch without a commit.
var errNoCommit = errors.New("the checkout has no commit yet: commit what is the base of your change first")

// IsUnborn reports whether an error says that the checkout has no commit yet.
func IsUnborn(err error) bool { return errors.Is(err, errNoCommit) }

// ReadState reads the state of the working tree whose root is a folder. Names lists the names of all files, links and
// other entries of the working tree that are no folders, which saves asking git for them; it may be nil. When there is
// no commit yet, it returns the state with an error for which [IsUnborn] is true.
func ReadState(ctx context.Context, root string, names func() ([]string, error)) (State, error) {
	var s State
	var err error
	if s.Settings, err = ReadSettings(ctx, root); err != nil {
		return s, err
	}
	if s.Files, s.Others, err = readFiles(ctx, root, s.Settings, names); err != nil {
		return s, err
	}
	head, err := OpenCommit(ctx, root, "HEAD")
	if err != nil {
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		return s, errNoCommit
	}
	s.Commit = head.Hash()
	s.Staged, err = readStaged(ctx, root, head.Hash())
	return s, err
}

// readFiles reads the index, looks at its files, and lists the others.
func readFiles(
	ctx context.Context, root string, settings Settings, names func() ([]string, error),
) (files []IndexFile, others []string, err error) {
	look, err := newLook(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	entries, err := readEntries(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	files = lookAtAll(look, root, entries)
	if err := markConverted(ctx, root, settings, files); err != nil {
		return nil, nil, err
	}
	others, err = listOthers(ctx, root, entries, names)
	return files, others, err
}

// lookAtAll returns the entries of the index with what lies in their place.
func lookAtAll(l look, root string, entries []indexEntry) []IndexFile {
	files := make([]IndexFile, 0, len(entries))
	folders := map[string]bool{".": true}
	for i, e := range entries {
		if i > 0 && entries[i-1].path == e.path { // the other sides of a conflict
			continue
		}
		f := IndexFile{Path: e.path, Mode: e.mode, ID: e.id, IsSkipped: e.isSkipped, size: e.stat.size}
		f.IsHidden, f.IsAnnounced = e.isMerged && !e.isLookedAt, e.stat.isAnnounced
		if isRealFolder(root, path.Dir(e.path), folders) {
			f.Found, f.IsUnchanged = l.at(e)
		}
		f.IsUnchanged = f.IsUnchanged && e.isMerged && kindOf(e.mode) == File
		files = append(files, f)
	}
	return files
}

// isRealFolder reports whether a path below the root is a folder that no link leads to. It remembers the answers.
func isRealFolder(root, name string, known map[string]bool) bool {
	is, ok := known[name]
	if !ok {
		is = isRealFolder(root, path.Dir(name), known) && isFolder(filepath.Join(root, filepath.FromSlash(name)))
		known[name] = is
	}
	return is
}

// readStaged returns what a commit has where the index has something else.
func readStaged(ctx context.Context, root, commit string) (map[string]TreeEntry, error) {
	out, err := run(ctx, root, "diff-index", "--cached", "--raw", "--no-abbrev", "--no-renames",
		"--ignore-submodules=none", "-z", commit, "--")
	if err != nil {
		return nil, err
	}
	staged := map[string]TreeEntry{}
	fields := strings.Split(string(out), "\x00") // ":mode mode id id status", path, …
	for i := 0; i+1 < len(fields); i += 2 {
		words := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(words) != 5 {
			return nil, errors.New("git diff-index printed a line that was not expected")
		}
		e := TreeEntry{Path: fields[i+1]}
		if words[0] != "000000" {
			e.Mode, e.ID = words[0], words[2]
		}
		staged[e.Path] = e
	}
	return staged, nil
}

// ListIgnored lists the files and folders of a working tree that git ignores. A folder has a slash at the end of its
// name, and what lies in it is not listed.
func ListIgnored(ctx context.Context, root string) ([]string, error) {
	out, err := run(ctx, root, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
	return splitZero(out), err
}

// ListIgnoredPaths returns those of some paths in a folder that git would not track, by the files .gitignore there and
// by what a repository ignores everywhere. Nothing has to lie at the paths: each is taken for a file and for a folder.
func ListIgnoredPaths(ctx context.Context, dir, folder string, paths []string) ([]string, error) {
	own, _, err := Folders(ctx, dir)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	cmd := newCommand(ctx, folder, "--git-dir="+own, "--work-tree="+folder, "check-ignore", "--no-index", "--stdin", "-z")
	// It takes no literal names. None has magic, as none begins with a colon.
	cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "--literal-pathspecs" })
	cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+filepath.Join(own, "no-index")) // or submodules are refused
	var in strings.Builder
	for _, p := range paths {
		in.WriteString("./" + p + "\x00./" + p + "/\x00")
	}
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 { // none
		return nil, nil
	}
	if err != nil {
		return nil, describe(ctx, folder, "check-ignore", err)
	}
	found := splitZero(out)
	for i, name := range found {
		found[i] = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	}
	return slices.Compact(found), nil
}
