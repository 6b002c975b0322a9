package bundler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// File gives the bytes of one file of the commit, up to limit and one more. The
// error is [fs.ErrNotExist] when the commit has nothing of that name. Links are
// not followed.
func (g *Git) File(ctx context.Context, name string, limit int) (raw []byte, err error) {
	if name != path.Clean(name) || path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return nil, fmt.Errorf("%q does not lie in the repository", name)
	}
	out, err := git(ctx, g.repo, "ls-tree", "-z", "--full-tree", g.commit, "--", name)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(out))
	if len(words) < 4 {
		return nil, fmt.Errorf("commit %.12s has no file %q: %w", g.commit, name, fs.ErrNotExist)
	}
	e := Entry{Name: name, Path: name, Blob: words[2], Kind: gitKind(words[0])}
	if e.Kind != Regular {
		return nil, fmt.Errorf("%q of commit %.12s is %s, not a file", name, g.commit, e.Kind)
	}
	r, err := g.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Read(e, limit)
}
