package files

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/state"
)

// A Read is a name that a task used, and what it found there.
type Read struct {
	Path  string `json:"path"`            // in the repository; "." is its root
	Lists bool   `json:"lists,omitempty"` // the names in the folder count
	Found string `json:"found"`           // see [World.Found]
}

// A List is what a task read, sorted by path.
type List []Read

// maxReads bounds how many names a list has.
const maxReads = 20_000

// ID returns the digest of a list.
func (l List) ID() ID {
	raw, err := json.Marshal(l)
	if err != nil { // strings always encode
		return ""
	}
	return ID(fmt.Sprintf("read:%x", sha256.Sum256(raw)))
}

// Paths returns the paths of a list. Those of folders that were listed end with a slash.
func (l List) Paths() []string {
	var out []string
	for _, r := range l {
		if r.Lists {
			out = append(out, r.Path+"/")
		} else {
			out = append(out, r.Path)
		}
	}
	return out
}

// Of returns what a task read of a world. Partial says why the list does not hold all; "" if it does. What the task
// read of the checkout itself although it started elsewhere, except files that git ignores, makes the list partial. So
// does a file that somebody else laid in the checkout before.
func (w World) Of(run Run) (l List, partial string) {
	partial = run.record.Partial
	lists := map[string]bool{}
	for _, a := range run.record.Accesses {
		path, inside := below(a.Name, run.root)
		if !inside && run.other != run.root {
			path, inside = below(a.Name, run.other)
			if inside && path != "." && !w.IsOther(path) && (a.Opened || a.Executed) {
				partial = fmt.Sprintf("it read %q of the checkout itself", path)
			}
		}
		if !inside || a.MadeFirst || isCompiled(path) {
			continue
		}
		if a.Moved && w.hasFolder(path) {
			partial = fmt.Sprintf("it moved the folder %q", path)
		}
		if !utf8.ValidString(path) {
			partial = fmt.Sprintf("it used %q, a name that cannot be kept", path)
		}
		path = aboveGit(path)
		lists[path] = lists[path] || a.Opened
	}
	for path, isOpened := range lists {
		r := Read{Path: path, Lists: isOpened && w.isFolder(path)}
		r.Found = w.foundBy(run, path, r.Lists)
		if r.Found == missing && run.seen[path] && !run.explains(path) {
			partial = fmt.Sprintf("it found %q, which is not of its side", path)
		}
		l = append(l, r)
	}
	slices.SortFunc(l, func(a, b Read) int { return strings.Compare(a.Path, b.Path) })
	if len(l) > maxReads {
		return nil, fmt.Sprintf("it read more than %d files", maxReads)
	}
	return l, partial
}

// below returns the path of a name below a folder.
func below(name, folder string) (path string, inside bool) {
	if name == folder {
		return ".", true
	}
	path, inside = strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/")
	return path, inside && folder != ""
}

// isCompiled reports whether a path is one of a module that Python compiled.
func isCompiled(path string) bool {
	return strings.Contains("/"+path+"/", "/__pycache__/") || strings.HasSuffix(path, ".pyc")
}

// aboveGit returns the path up to a part .git: what lies there follows from the commit.
func aboveGit(path string) string {
	if i := strings.Index("/"+path+"/", "/.git/"); i >= 0 {
		return path[:i] + ".git"
	}
	return path
}

// An ID names what is known of the files that a run read: a list ("read:…"), all files of the
// repository by their digest ("all:…"), or those that the settings declare and no others
// ("declared"). "" is nothing.
type ID string

// Declared says that the settings name the files that a task may use, so that their digest is a
// part of its command.
const Declared ID = "declared"

// All returns the id for a task that counts as having read all files with a digest.
func All(digest string) ID { return ID("all:" + digest) }

// IsRecorded reports whether the files were recorded.
func (id ID) IsRecorded() bool { return strings.HasPrefix(string(id), "read:") }

// AllDigest returns the digest of all files, and whether all files count.
func (id ID) AllDigest() (digest string, ok bool) { return strings.CutPrefix(string(id), "all:") }

// Version is the version of the documents.
const Version = "1"

// folder is the folder of the state for lists.
const folder = "files"

// A document is a list in the state.
type document struct {
	Version string `json:"version"`
	ID      ID     `json:"id"`
	Reads   List   `json:"reads"`
}

var kind = state.Kind[document]{Version: Version, Valid: func(d *document) error {
	if d.Reads.ID() != d.ID {
		return errors.New("its digest is wrong, so it was edited or damaged")
	}
	return nil
}}

// A Store keeps lists between runs. Several processes may use one at once.
type Store struct{ in state.Store }

// NewStore returns a store that keeps lists in a state.
func NewStore(in state.Store) Store { return Store{in} }

func key(integration string, id ID) string {
	return folder + "/" + state.Name(integration) + "/" + state.Name(string(id)) + ".json"
}

// Save writes a list, and returns its id.
func (s Store) Save(ctx context.Context, integration string, l List) (ID, error) {
	if l == nil {
		l = List{}
	}
	doc := document{Version, l.ID(), l}
	raw, err := json.Marshal(doc)
	if err == nil {
		err = s.in.Write(ctx, key(integration, doc.ID), raw)
	}
	if err != nil {
		return "", fmt.Errorf("remembering what %q read: %w", integration, err)
	}
	return doc.ID, nil
}

// Load returns the list of an id. The error says why there is none that counts.
func (s Store) Load(ctx context.Context, integration string, id ID) (List, error) {
	doc, err := kind.Read(ctx, s.in, key(integration, id))
	if err != nil {
		return nil, err
	}
	if doc.ID != id {
		return nil, state.ErrCorrupt
	}
	return doc.Reads, nil
}
