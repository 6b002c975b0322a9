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

// Key identifies all that the bundle of a commit is made from, "" when its
// datafiles are not those of a commit.
func Key(ctx context.Context, in Input) (string, error) {
	if _, ok := in.Data.Tree.(CommitTree); !ok {
		return "", nil
	}
	h := sha256.New()
	note(h, "%s\n%s\n%s\n", cacheFormat, in.Commit, in.Timestamp)
	for _, s := range []Section{in.Data, in.Resources, in.Schemas} {
		if err := s.identify(ctx, h, s.folder); err != nil {
			return "", err
		}
	}
	if err := in.GraphQL.identify(ctx, h, in.GraphQL.single); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// note writes to a hash, which never fails.
func note(h hash.Hash, format string, args ...any) { h.Write(fmt.Appendf(nil, format, args...)) }

func (s Section) folder(ctx context.Context) ([]Entry, error) { return s.Tree.List(ctx, s.Dir) }

func (s Section) single(ctx context.Context) ([]Entry, error) {
	e, err := s.file(ctx)
	return []Entry{e}, err
}

// identify writes what identifies the content of a section: git's id of it, or
// else all names with their contents.
func (s Section) identify(ctx context.Context, h hash.Hash, list func(context.Context) ([]Entry, error)) error {
	note(h, "%q %t ", s.Dir, s.JSON)
	if t, ok := s.Tree.(CommitTree); ok {
		out, err := t.Commit.ObjectID(ctx, s.Dir)
		note(h, "%s\n", out)
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
			note(h, "%q %d %q\n", e.Name, e.Kind, e.Target)
			continue
		}
		raw, err := r.Read(e, maxResource)
		if err != nil {
			return errors.Join(fmt.Errorf("reading %s: %w", e.Path, err), r.Close())
		}
		note(h, "%q %x\n", e.Name, sha256.Sum256(raw))
	}
	return r.Close()
}
