package bundler

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/internal/git"
)

// A CommitTree is the tree of a commit.
type CommitTree struct{ Commit *git.Commit }

// List returns the entries of a folder of the commit.
func (t CommitTree) List(ctx context.Context, dir string) ([]Entry, error) {
	if ok, err := t.Commit.HasFolder(ctx, dir); !ok || err != nil {
		if err != nil {
			return nil, err
		}
		return nil, t.noFolder(ctx, dir)
	}
	list, err := t.Commit.List(ctx, dir)
	entries := make([]Entry, 0, len(list))
	for _, e := range list {
		entries = append(entries, Entry{Name: e.Name, Path: e.Name, Blob: e.ID, Kind: entryKind(e.Kind), Target: e.Target})
	}
	return entries, err
}

// noFolder returns the error about a path that is no folder of the commit.
func (t CommitTree) noFolder(ctx context.Context, dir string) error {
	const said = "commit %.12s of %q has no folder %q: say under checkout in the settings where it is"
	err := fmt.Errorf(said, t.Commit.Hash(), t.Commit.Dir(), dir)
	if there, trouble := t.Commit.HasPath(ctx, dir); there || trouble != nil {
		return errors.Join(err, trouble)
	}
	return missingError{err}
}

// A missingError is an error that says which folder is missing.
type missingError struct{ error }

// Is makes the error one about a missing folder.
func (missingError) Is(target error) bool { return target == errNoFolder }

// entryKind returns the kind of an entry that git lists.
func entryKind(k git.Kind) EntryKind {
	switch k {
	case git.File:
		return Regular
	case git.Link:
		return Link
	}
	return Submodule
}

// Open returns a reader that starts git when it is first used.
func (t CommitTree) Open(ctx context.Context) (Reader, error) {
	return commitReader{t.Commit.Blobs(ctx)}, nil
}

// A commitReader reads files of a commit by git's ids of their contents.
type commitReader struct{ *git.BlobReader }

// Expect requests many files from git at once, which saves waiting for each of them.
func (r commitReader) Expect(next []Entry) error {
	ids := make([]string, 0, len(next))
	for _, e := range next {
		ids = append(ids, e.Blob)
	}
	return r.Request(ids...)
}

// Read reads one file. Of a larger file than limit it returns the first limit+1
// bytes.
func (r commitReader) Read(e Entry, limit int) ([]byte, error) {
	return r.BlobReader.Read(e.Blob, limit)
}
