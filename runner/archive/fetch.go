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

// Bounds of what is fetched, in bytes.
const (
	maxLog = 256 << 20 // of one log
	maxAll = 4 << 30   // of all of them, give or take those that were on their way
)

// Fetch fetches the logs that results name into a folder, which is made, and
// makes the results name them there. What cannot be fetched is not named any
// more; the error tells how many, and why the first could not. Prefix is the name
// of the folder in the run.
func (p Place) Fetch(ctx context.Context, prefix, dir string, results []plan.Result) error {
	all := named(results, prefix)
	if len(all) == 0 {
		return nil
	}
	var left atomic.Int64
	left.Store(maxAll)
	root, err := folder(dir)
	if err == nil {
		defer root.Close()
	}
	errs := each(ctx, all, func(ctx context.Context, l log) error {
		if err != nil {
			return err
		}
		n, err := p.download(ctx, root, l.name, path.Join(p.Folder, prefix, l.name), min(maxLog, left.Load()))
		left.Add(-n)
		return err
	})
	for i, l := range all {
		if *l.shown = ""; errs[i] == nil {
			*l.shown = path.Join(filepath.Base(dir), l.name)
		}
	}
	return told("not fetched from the bucket", all, errs)
}

// folder makes the folder for logs. A link to where those on base are could lead
// to those of head.
func folder(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	base := filepath.Join(dir, onBase)
	if info, err := os.Lstat(base); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%q is no folder, take it away", filepath.ToSlash(base))
	}
	return os.OpenRoot(dir)
}

// download writes a log to a file, as a whole or not at all, and returns how many
// bytes came.
func (p Place) download(ctx context.Context, root *os.Root, name, key string, limit int64) (int64, error) {
	if limit <= 0 {
		return 0, objects.ErrTooLarge
	}
	if err := root.MkdirAll(path.Dir(name), 0o750); err != nil {
		return 0, err
	}
	part := name + ".part"
	_ = root.Remove(part) // of a run that was killed
	file, err := root.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o640)
	if err != nil {
		return 0, err
	}
	came := &counted{to: file}
	err = p.Bucket.Download(ctx, key, came, limit)
	if err = errors.Join(err, file.Close()); err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		_ = root.Remove(part) // it is half a log
	}
	return came.n, err
}

type counted struct {
	to io.Writer
	n  int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}
