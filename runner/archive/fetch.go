package archive

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"

	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/internal/safepath"
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
	root, err := safepath.MakeFolder(dir)
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

// download writes an object to a file, completely or not at all. It returns how many
// bytes were received.
func (s LogStore) download(ctx context.Context, root *os.Root, name, key string, limit int64) (int64, error) {
	if limit <= 0 {
		return 0, objects.ErrTooLarge
	}
	folder, err := safepath.Below(root, path.Dir(name), true)
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	name = path.Base(name)
	partial := name + ".part"
	_ = folder.Remove(partial) // a run that was killed may have left it
	file, err := folder.OpenFile(partial, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o640)
	if err != nil {
		return 0, err
	}
	counter := &countingWriter{to: file}
	err = s.Bucket.Download(ctx, key, counter, limit)
	if err = errors.Join(err, file.Close()); err == nil {
		err = folder.Rename(partial, name)
	}
	if err != nil {
		_ = folder.Remove(partial)
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
