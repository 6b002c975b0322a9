package repositories

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/git"
)

// The bounds of what is read at once.
const (
	maxBytes = 16 << 20
	maxFiles = 5000
	maxLog   = 10_000
)

// Log implements [services.Repositories].
func (r *Repositories) Log(ctx context.Context, of services.Repository, commit string,
	limit int) (out []string, err error) {
	limit = min(limit, maxLog)
	if !fullSha.MatchString(commit) || limit < 1 {
		return nil, wrong("%.100q is no full name of a commit", commit)
	}
	err = r.with(ctx, of, "log", func(ctx context.Context, m *git.Mirror, from git.Remote) error {
		err := m.FetchLog(ctx, from, commit, limit)
		if err == nil {
			out, err = m.Log(ctx, commit, limit)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the commits before %.12s of %.200s: %w", commit, withoutUser(of.URL), err)
	}
	return out, nil
}

// Files implements [services.Repositories].
func (r *Repositories) Files(ctx context.Context, of services.Repository, commit, at string,
	deep bool) (out map[string][]byte, err error) {
	at = strings.Trim(at, "/")
	if !fullSha.MatchString(commit) {
		return nil, wrong("%.100q is no full name of a commit", commit)
	}
	if at != "" && path.Clean("/"+at) != "/"+at || strings.ContainsAny(at, "\x00\n") || len(at) > 4096 {
		return nil, wrong("%.100q is no path of a repository", at)
	}
	err = r.with(ctx, of, "files", func(ctx context.Context, m *git.Mirror, from git.Remote) (err error) {
		if err = m.FetchCommit(ctx, from, commit); err == nil {
			out, err = files(ctx, m, from, commit, at, deep)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %q at %.12s of %.200s: %w", "/"+at, commit, withoutUser(of.URL), err)
	}
	return out, nil
}

// files returns the files at a path of a commit that was fetched. It fetches their contents.
func files(ctx context.Context, m *git.Mirror, from git.Remote, commit, at string,
	deep bool) (map[string][]byte, error) {
	entries, err := m.List(ctx, commit, at, deep)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, services.ErrNotThere
	}
	if err != nil {
		return nil, err
	}
	var names, ids []string
	for _, e := range entries {
		if e.Kind == git.File {
			names, ids = append(names, e.Name), append(ids, e.ID)
		}
	}
	switch {
	case len(ids) > maxFiles:
		return nil, wrong("there are more than %d files", maxFiles)
	case len(ids) == 0 && len(entries) == 1 && entries[0].Name == "": // a link or a submodule
		return nil, services.ErrNotThere
	case len(ids) == 0:
		return map[string][]byte{}, nil
	}
	if err := m.FetchFiles(ctx, from, ids); err != nil {
		return nil, err
	}
	contents, err := m.Contents(ctx, ids, maxBytes)
	if errors.Is(err, git.ErrTooLarge) {
		return nil, wrong("the files are larger than %d MiB", maxBytes>>20)
	}
	out := map[string][]byte{}
	for i := range contents {
		out[names[i]] = contents[i]
	}
	return out, err
}

// with calls do with the mirror of a repository. One goroutine at a time uses it.
func (r *Repositories) with(ctx context.Context, of services.Repository, kind string, do func(context.Context,
	*git.Mirror, git.Remote) error) error {
	base, to, err := check(of)
	if err != nil {
		return err
	}
	known := r.place(base)
	address, _ := r.known(known)
	if address == "" { // learn where it answers, and whether it does
		if _, err := r.heads(ctx, of, []string{"HEAD"}); err != nil {
			return err
		}
		address, _ = r.known(known)
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if err := to.CheckAddress(address); err != nil {
		return err
	}
	from := git.Remote{URL: address, Authorization: to.Authorization}
	m, err := r.mirror(ctx, mirrorKey{from, kind})
	if err != nil {
		return err
	}
	return r.again(ctx, func(ctx context.Context) error {
		err := do(ctx, m, from)
		switch {
		case errors.Is(err, git.ErrNotOurs):
			return services.ErrNotThere
		case errors.Is(err, git.ErrNotInstalled):
			return wrong("%w", err)
		case err == nil, errors.Is(err, services.ErrNotThere), ctx.Err() != nil, isClassed(err):
			return err
		}
		return lost("%w", err)
	})
}

// A mirrorKey says what a mirror is for. What was fetched with credentials is there for these
// alone.
type mirrorKey struct {
	from git.Remote
	kind string
}

// mirror returns the mirror of a repository, and makes it if it is not there.
func (r *Repositories) mirror(ctx context.Context, key mirrorKey) (*git.Mirror, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.mirrors[key]; ok {
		return m, nil
	}
	if r.folder == "" {
		folder, err := os.MkdirTemp("", "prcheck-git-")
		if err != nil {
			return nil, fmt.Errorf("making a folder for repositories: %w", err)
		}
		r.folder = folder
	}
	folder, err := os.MkdirTemp(r.folder, key.kind+"-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for a repository: %w", err)
	}
	m, err := git.NewMirror(ctx, folder, key.from.URL)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a mirror: %w", err), os.RemoveAll(folder))
	}
	r.mirrors[key] = m
	return m, nil
}
