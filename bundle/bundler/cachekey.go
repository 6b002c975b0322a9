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
	h := sha256.New()
	hashf(h, "%s\n%s\n%s\n", cacheFormat, in.Commit, in.Timestamp)
	for _, s := range []Section{in.Data, in.Resources, in.Schemas} {
		if err := s.hashTo(ctx, h, s.listFolder); err != nil {
			return "", err
		}
	}
	if err := in.GraphQL.hashTo(ctx, h, in.GraphQL.listSingle); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashf formats text into a hash.
func hashf(h hash.Hash, format string, args ...any) { h.Write(fmt.Appendf(nil, format, args...)) }

// listFolder lists a section that is a folder.
func (s Section) listFolder(ctx context.Context) ([]Entry, error) { return s.list(ctx) }

// listSingle lists a section that is one file.
func (s Section) listSingle(ctx context.Context) ([]Entry, error) {
	e, err := s.findFile(ctx)
	return []Entry{e}, err
}

// hashTo adds the content of a section to a hash: git's id of a section in a
// commit, or the names and contents of all files.
func (s Section) hashTo(ctx context.Context, h hash.Hash, list func(context.Context) ([]Entry, error)) error {
	hashf(h, "%q %t ", s.Dir, s.JSON)
	if t, ok := s.Tree.(CommitTree); ok {
		out, err := t.Commit.ObjectID(ctx, s.Dir)
		hashf(h, "%s\n", out)
		if err != nil && s.Optional && errors.Is(t.noFolder(ctx, s.Dir), errNoFolder) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("commit %.12s of %q has no %q: say under checkout in the settings where it is", t.Commit.Hash(), t.Commit.Dir(), s.Dir)
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
