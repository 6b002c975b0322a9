package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// A BlobReader reads contents of files by git's id. It starts one git when it is first used, and asks it for all of
// them.
type BlobReader struct {
	start func() error
	cmd   *exec.Cmd // nil until it is started
	in    io.WriteCloser
	out   *bufio.Reader
	buf   []byte

	requested []string // ids that git was asked for and that were not read yet
}

// Blobs returns a reader of the repository's contents. The caller closes it.
func (c *Commit) Blobs(ctx context.Context) *BlobReader { return NewBlobReader(ctx, c.dir) }

// NewBlobReader returns a reader of the contents of the repository that a folder lies in. The caller closes it.
func NewBlobReader(ctx context.Context, dir string) *BlobReader {
	r := &BlobReader{}
	r.start = func() error { return r.run(ctx, dir) }
	return r
}

func (r *BlobReader) run(ctx context.Context, dir string) error {
	cmd := newCommand(ctx, dir, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return describe(ctx, dir, "cat-file", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return describe(ctx, dir, "cat-file", err)
	}
	if err := cmd.Start(); err != nil {
		return describe(ctx, dir, "cat-file", err)
	}
	r.cmd, r.in, r.out = cmd, in, bufio.NewReaderSize(out, 1<<16)
	return nil
}

// Request asks git for many contents at once, which saves waiting for each. They are then read in this order.
func (r *BlobReader) Request(ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	if r.cmd == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	r.requested = append(r.requested, ids...)
	if _, err := io.WriteString(r.in, strings.Join(ids, "\n")+"\n"); err != nil {
		return fmt.Errorf("asking git for contents: %w", err)
	}
	return nil
}

// Read returns one content: the next that was requested, or any when none is waited for. Of a content larger than limit
// it returns limit and one more. The bytes are good until the next Read.
func (r *BlobReader) Read(id string, limit int) ([]byte, error) {
	size, err := r.begin(id)
	if err != nil {
		return nil, err
	}
	kept := int(min(size, int64(limit)+1))
	r.buf = slices.Grow(r.buf[:0], kept)[:kept]
	_, err = io.ReadFull(r.out, r.buf)
	if err == nil {
		_, err = io.CopyN(io.Discard, r.out, size-int64(kept)+1)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s from git: %w", id, err)
	}
	return r.buf, nil
}

// Copy writes one content: the next that was requested, or any when none is waited for. After an error the reader is of
// no more use.
func (r *BlobReader) Copy(w io.Writer, id string) error {
	size, err := r.begin(id)
	if err != nil {
		return err
	}
	if size <= 1<<20 { // one call of the system
		r.buf = slices.Grow(r.buf[:0], int(size))[:size]
		if _, err = io.ReadFull(r.out, r.buf); err == nil {
			_, err = w.Write(r.buf)
		}
	} else {
		_, err = io.CopyN(w, r.out, size)
	}
	if err != nil {
		return err
	}
	if _, err := r.out.Discard(1); err != nil {
		return fmt.Errorf("reading %s from git: %w", id, err)
	}
	return nil
}

// begin waits for what git says of a content before its bytes, and returns its size.
func (r *BlobReader) begin(id string) (int64, error) {
	if len(r.requested) == 0 {
		if err := r.Request(id); err != nil {
			return 0, err
		}
	}
	if r.requested[0] != id {
		return 0, fmt.Errorf("git was asked for %s, not for %s (a bug in prcheck)", r.requested[0], id)
	}
	r.requested = r.requested[1:]
	head, err := r.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("reading %s from git: %w", id, err)
	}
	words := strings.Fields(head)
	if len(words) != 3 || words[1] != "blob" {
		return 0, fmt.Errorf("git has no content %s: fetch the whole repository, not a part of it", id)
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || size < 0 {
		return 0, fmt.Errorf("git cat-file printed %q: not what was expected", head)
	}
	return size, nil
}

// Close ends the git.
func (r *BlobReader) Close() error {
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
