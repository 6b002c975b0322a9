package bundler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// Key returns a hash of everything that the bundle of a commit is made from. It
// returns "" if the datafiles do not come from a commit.
func Key(ctx context.Context, in Input) (string, error) {
	if _, ok := in.Data.Tree.(CommitTree); !ok {
		return "", nil
	}
	sections := []TreePart{in.Data, in.Resources, in.Schemas, in.GraphQL}
	ids, err := objectIDs(ctx, sections)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	hashf(h, "%s\n%s\n%s\n", cacheFormat, in.Commit, in.Timestamp)
	for i, s := range sections {
		list := s.listFolder
		if i == len(sections)-1 {
			list = s.listSingle
		}
		if err := s.hashTo(ctx, h, ids[i], list); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// objectIDs returns git's ids of the sections that come from the commit of the datafiles, and
// "" for all others.
func objectIDs(ctx context.Context, sections []TreePart) ([]string, error) {
	var dirs []string
	for _, s := range sections {
		if s.Tree == sections[0].Tree {
			dirs = append(dirs, s.Dir)
		}
	}
	found, err := sections[0].Tree.(CommitTree).Commit.ObjectIDs(ctx, dirs...)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(sections))
	for i, s := range sections {
		if s.Tree == sections[0].Tree {
			ids[i], found = found[0], found[1:]
		}
	}
	return ids, nil
}

// hashf formats text into a hash.
func hashf(h hash.Hash, format string, args ...any) { h.Write(fmt.Appendf(nil, format, args...)) }

// listFolder lists a section that is a folder.
func (s TreePart) listFolder(ctx context.Context) ([]Entry, error) { return s.list(ctx) }

// listSingle lists a section that is one file.
func (s TreePart) listSingle(ctx context.Context) ([]Entry, error) {
	e, err := s.findFile(ctx)
	return []Entry{e}, err
}

// hashTo adds the content of a section to a hash: git's id of a section in a
// commit, or the names and contents of all files.
func (s TreePart) hashTo(ctx context.Context, h hash.Hash, id string,
	list func(context.Context) ([]Entry, error)) error {
	hashf(h, "%q %t ", s.Dir, s.JSON)
	if t, ok := s.Tree.(CommitTree); ok {
		hashf(h, "%s\n", id)
		if id == "" && (!s.Optional || !errors.Is(t.noFolder(ctx, s.Dir), errNoFolder)) {
			return fmt.Errorf("commit %.12s of %q has no %q: say under checkout in the settings where it is", t.Commit.Hash(),
				t.Commit.Dir(), s.Dir)
		}
		return nil
	}
	entries, err := list(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	r, err := s.Tree.Open(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Kind != Regular {
			hashf(h, "%q %d %q\n", e.Name, e.Kind, e.Target)
			continue
		}
		raw, err := r.Read(e, maxResource)
		if err != nil {
			return errors.Join(fmt.Errorf("reading %s: %w", e.Path, err), r.Close())
		}
		hashf(h, "%q %x\n", e.Name, sha256.Sum256(raw))
	}
	return r.Close()
}
