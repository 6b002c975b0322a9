package bundler

import (
	"bytes"
	"context"
	"path"
	"strings"
)

// A WorkTree is the tree of a folder whose files are known to git, so that a
// cache can tell the content of most of them without reading.
type WorkTree struct {
	Folder
	blobs map[string]string // by path in the tree
}

// OpenWorkTree asks git what it knows of a folder. It is the plain folder when
// git knows nothing.
//
// A file's id is taken from the index when git finds the file as it left it and
// nothing could have changed its bytes on the way from the object store: no
// attribute, no setting about line ends, no bit that says to not look.
func OpenWorkTree(ctx context.Context, dir string) *WorkTree {
	w := &WorkTree{Folder: Folder(dir)}
	if out, err := git(ctx, dir, "config", "--get", "core.autocrlf"); err == nil && strings.TrimSpace(string(out)) != "false" {
		return w
	}
	// First what differs, then the ids: what is added to the index in between is
	// there with its new id, and not taken for what was there before.
	changed, err := git(ctx, dir, "-c", "core.checkStat=default", "-c", "core.trustctime=true",
		"diff-files", "--relative", "--name-only", "--no-ext-diff", "--ignore-submodules", "-z")
	if err != nil {
		return w
	}
	blobs, paths, err := indexed(ctx, dir)
	if err != nil {
		return w
	}
	for name := range strings.SplitSeq(string(changed), "\x00") {
		delete(blobs, name)
	}
	if converted(ctx, dir, paths, blobs) == nil {
		w.blobs = blobs
	}
	return w
}

// indexed lists the files of the index with their ids, but for those that git
// is told to not look at.
func indexed(ctx context.Context, dir string) (blobs map[string]string, paths []byte, err error) {
	out, err := git(ctx, dir, "ls-files", "-s", "-v", "-z")
	if err != nil {
		return nil, nil, err
	}
	blobs = make(map[string]string, bytes.Count(out, []byte{0}))
	for line := range strings.SplitSeq(string(out), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(about) // tag, mode, id, stage
		if len(words) == 4 && words[0] == "H" && words[3] == "0" && gitKind(words[1]) == Regular {
			blobs[name] = words[2]
			paths = append(append(paths, name...), 0)
		}
	}
	return blobs, paths, nil
}

// converted takes out the files whose bytes git may change between the object
// store and the folder.
func converted(ctx context.Context, dir string, paths []byte, blobs map[string]string) error {
	cmd := command(ctx, dir, "check-attr", "--stdin", "-z", "-a")
	cmd.Stdin = bytes.NewReader(paths)
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	fields := strings.Split(string(out), "\x00") // path, attribute, value, …
	for i := 0; i+2 < len(fields); i += 3 {
		switch fields[i+1] {
		case "text", "eol", "crlf", "ident", "filter", "working-tree-encoding":
			if fields[i+2] != "unset" {
				delete(blobs, fields[i])
			}
		}
	}
	return nil
}

// List gives the entries of a folder, with ids where they are known.
func (w *WorkTree) List(ctx context.Context, dir string) ([]Entry, error) {
	entries, err := w.Folder.List(ctx, dir)
	for i, e := range entries {
		if e.Kind == Regular {
			entries[i].Blob = w.blobs[path.Clean(e.Path)]
		}
	}
	return entries, err
}
