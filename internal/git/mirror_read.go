package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Log returns a commit and those before it on the way of first parents, newest first, at most
// limit, as far as they were fetched.
func (m *Mirror) Log(ctx context.Context, commit string, limit int) ([]string, error) {
	out, err := m.run(ctx, Remote{}, nil, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(limit),
		"--end-of-options", commit)
	return strings.Fields(string(out)), err
}

// List returns the file at a path of a commit, with the name "", or the files, links and
// submodules of the folder there; "" is the root. Those in folders below are listed only if deep.
// The error is [fs.ErrNotExist] if the commit has no such path.
func (m *Mirror) List(ctx context.Context, commit, path string, deep bool) ([]Entry, error) {
	if path != "" {
		found, err := m.listTree(ctx, commit, "--", path)
		if err != nil {
			return nil, err
		}
		switch {
		case len(found) == 0:
			return nil, fs.ErrNotExist
		case found[0].isFolder:
		default:
			found[0].Name = ""
			return []Entry{found[0].Entry}, nil
		}
	}
	args := []string{commit + ":" + path}
	if deep {
		args = append([]string{"-r"}, args...)
	}
	found, err := m.listTree(ctx, args...)
	var out []Entry
	for _, e := range found {
		if !e.isFolder {
			out = append(out, e.Entry)
		}
	}
	return out, err
}

// A treeEntry is an entry of a commit that may be a folder.
type treeEntry struct {
	Entry
	isFolder bool
}

func (m *Mirror) listTree(ctx context.Context, args ...string) ([]treeEntry, error) {
	raw, err := m.run(ctx, Remote{}, nil, append([]string{"ls-tree", "-z", "--full-tree"}, args...)...)
	var out []treeEntry
	for len(raw) > 0 && err == nil {
		line, rest, _ := bytes.Cut(raw, []byte{0})
		raw = rest
		about, name, _ := bytes.Cut(line, []byte("\t"))
		words := strings.Fields(string(about))
		if len(words) != 3 {
			return nil, fmt.Errorf("git ls-tree printed %.100q: not what was expected", line)
		}
		out = append(out, treeEntry{Entry{Name: string(name), ID: words[2], Kind: kindOf(words[0])},
			words[1] == "tree"})
	}
	return out, err
}

// Contents returns the contents of files by git's id. All of them together may have a number of
// bytes, else the error is [ErrTooLarge].
func (m *Mirror) Contents(ctx context.Context, ids []string, most int) ([][]byte, error) {
	const head = 100 // bytes that git prints about each, at most
	raw, err := m.runWithin(ctx, most+head*len(ids), Remote{}, strings.NewReader(strings.Join(ids, "\n")+"\n"),
		"cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	var out [][]byte
	for _, id := range ids {
		about, rest, _ := bytes.Cut(raw, []byte("\n"))
		words := strings.Fields(string(about))
		if len(words) != 3 || words[0] != id || words[1] != "blob" {
			return nil, fmt.Errorf("git has no content %s", id)
		}
		size, err := strconv.Atoi(words[2])
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file printed %q: not what was expected", about)
		}
		if most -= size; most < 0 {
			return nil, ErrTooLarge
		}
		out, raw = append(out, rest[:size:size]), rest[size+1:]
	}
	return out, nil
}

// ErrTooLarge says that files are larger than they may be.
var ErrTooLarge = errors.New("the files are too large")
