package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
)

// Store stores the logs that results name. It reads them from the folder in which the run
// wrote them. The error says how many could not be stored, and why the first could not.
func (s LogStore) Store(ctx context.Context, dir string, results []plan.Result) error {
	prefix := filepath.Base(dir)
	logs := findReferences(results, prefix)
	if len(logs) == 0 {
		return nil
	}
	root, err := safepath.OpenFolder(dir)
	if err != nil {
		return fmt.Errorf("storing the logs in the bucket: %w", err)
	}
	defer root.Close()
	return summarize("stored in the bucket", logs, copyLogs(ctx, logs, func(ctx context.Context, log logReference) error {
		key := path.Join(prefix, log.path)
		if !filepath.IsLocal(key) {
			return errName
		}
		return s.upload(ctx, root, log.path, path.Join(s.Folder, key))
	}))
}

// upload stores a file of the folder for logs as an object.
func (s LogStore) upload(ctx context.Context, root *os.Root, name, key string) error {
	folder, err := safepath.Below(root, path.Dir(name), false)
	if err != nil {
		return err
	}
	defer folder.Close()
	name = path.Base(name)
	if info, err := folder.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errRegular)
	}
	file, err := safepath.OpenIn(folder, name)
	if err != nil {
		return err
	}
	defer file.Close()
	return s.Bucket.Upload(ctx, key, file)
}
