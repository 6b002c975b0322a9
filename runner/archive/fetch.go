package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"

	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
)

// How many bytes are fetched at most.
const (
	maxLog   = 256 << 20 // of one log
	maxTotal = 4 << 30   // of all logs; logs that are being copied at the limit may exceed it
)

// Fetch fetches the logs that results name into a folder, and changes the results so that
// they name the fetched files. The folder is created. Prefix is the name that the folder
// for logs had in the run.
//
// Results no longer name a log that could not be fetched. The error says how many there
// are, and why the first could not be fetched.
func (s LogStore) Fetch(ctx context.Context, prefix, dir string, results []plan.Result) error {
	logs := findReferences(results, prefix)
	if len(logs) == 0 {
		return nil
	}
	var left atomic.Int64
	left.Store(maxTotal)
	root, err := openFolder(dir)
	if err == nil {
		defer root.Close()
	}
	errs := copyLogs(ctx, logs, func(ctx context.Context, log logReference) error {
		if err != nil {
			return err
		}
		n, err := s.download(ctx, root, log.path, path.Join(s.Folder, prefix, log.path), min(maxLog, left.Load()))
		left.Add(-n)
		return err
	})
	for i, log := range logs {
		if *log.name = ""; errs[i] == nil {
			*log.name = path.Join(filepath.Base(dir), log.path)
		}
	}
	return summarize("fetched from the bucket", logs, errs)
}

// openFolder creates and opens the folder for logs. It refuses a link in the place of the
// folders for runs that are compared, which could lead to the logs of head.
func openFolder(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	for _, name := range comparedFolders {
		folder := filepath.Join(dir, name)
		if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%q is not a folder: remove it", filepath.ToSlash(folder))
		}
	}
	return os.OpenRoot(dir)
}

// download writes an object to a file, completely or not at all. It returns how many
// bytes were received.
func (s LogStore) download(ctx context.Context, root *os.Root, name, key string, limit int64) (int64, error) {
	if limit <= 0 {
		return 0, objects.ErrTooLarge
	}
	if err := root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return 0, err
	}
	partial := name + ".part"
	_ = root.Remove(partial) // a run that was killed may have left it
	file, err := root.OpenFile(partial, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o640)
	if err != nil {
		return 0, err
	}
	counter := &countingWriter{to: file}
	err = s.Bucket.Download(ctx, key, counter, limit)
	if err = errors.Join(err, file.Close()); err == nil {
		err = root.Rename(partial, name)
	}
	if err != nil {
		_ = root.Remove(partial)
	}
	return counter.n, err
}

// A countingWriter counts the bytes that it writes.
type countingWriter struct {
	to io.Writer
	n  int64
}

// Write writes to the other writer.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}
