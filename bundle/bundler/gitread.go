package bundler

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// Open gives a reader that starts a git when it is first asked.
func (g *Git) Open(ctx context.Context) (Reader, error) {
	r := &gitReader{}
	r.start = func() error { return r.run(ctx, g.repo) }
	return r, nil
}

// A gitReader asks a git for contents by id.
type gitReader struct {
	start func() error
	cmd   *exec.Cmd // nil until it is started
	in    io.WriteCloser
	out   *bufio.Reader
	buf   []byte

	asked []string // ids that git was asked for and that were not read yet
}

func (r *gitReader) run(ctx context.Context, repo string) error {
	cmd := command(ctx, repo, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return gitError(ctx, repo, "cat-file", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return gitError(ctx, repo, "cat-file", err)
	}
	if err := cmd.Start(); err != nil {
		return gitError(ctx, repo, "cat-file", err)
	}
	r.cmd, r.in, r.out = cmd, in, bufio.NewReaderSize(out, 1<<16)
	return nil
}

// Expect asks for many blobs at once, which saves waiting for each.
func (r *gitReader) Expect(next []Entry) error {
	if len(next) == 0 {
		return nil
	}
	if r.cmd == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	var ids strings.Builder
	for _, e := range next {
		ids.WriteString(e.Blob + "\n")
		r.asked = append(r.asked, e.Blob)
	}
	if _, err := io.WriteString(r.in, ids.String()); err != nil {
		return fmt.Errorf("asking git for contents: %w", err)
	}
	return nil
}

// Read asks for one blob. A larger one than limit is read to its end and cut.
func (r *gitReader) Read(e Entry, limit int) ([]byte, error) {
	if len(r.asked) == 0 {
		if err := r.Expect([]Entry{e}); err != nil {
			return nil, err
		}
	}
	if r.asked[0] != e.Blob {
		return nil, fmt.Errorf("git was asked for %s, not for %s (a bug in prcheck)", r.asked[0], e.Blob)
	}
	r.asked = r.asked[1:]
	head, err := r.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("reading %s from git: %w", e.Blob, err)
	}
	words := strings.Fields(head)
	if len(words) != 3 || words[1] != "blob" {
		return nil, fmt.Errorf("git has no content %s: fetch the whole repository, not a part of it", e.Blob)
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || size < 0 {
		return nil, fmt.Errorf("git cat-file printed %q: not what was expected", head)
	}
	raw := reuse(&r.buf, int(min(size, int64(limit)+1)))
	_, err = io.ReadFull(r.out, raw)
	if err == nil {
		_, err = io.CopyN(io.Discard, r.out, size-int64(len(raw))+1)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s from git: %w", e.Blob, err)
	}
	return raw, nil
}

// Close ends the git.
func (r *gitReader) Close() error {
	if r.cmd == nil {
		return nil
	}
	err := r.in.Close()
	if _, tail := io.Copy(io.Discard, r.out); tail != nil {
		err = errors.Join(err, tail)
	}
	if wait := r.cmd.Wait(); wait != nil {
		return fmt.Errorf("running git cat-file: %w", wait)
	}
	return err
}
