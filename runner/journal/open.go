package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/safepath"
)

// lockTimeout is how long [Open] waits for another run to end. It is longer than a run
// that is stopped waits for its tasks.
const lockTimeout = 15 * time.Second

// nameInLogs is the name of a journal in the folder for logs.
const nameInLogs = "results.jsonl"

// FileName returns the name of the journal for a run: beside the file of its results, or
// in the folder for its logs if the results go elsewhere.
func FileName(results, logs string) string {
	if strings.HasSuffix(results, ".json") {
		return results + "l"
	}
	return filepath.Join(logs, nameInLogs)
}

// Open opens a journal and locks it until every copy of the file is closed. It creates
// the journal, and the folder for logs if the journal is in it, if they do not exist.
func Open(ctx context.Context, name string) (*os.File, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, cli.Invalid(fmt.Errorf(
		"another run is writing %q: wait for its end, or choose another --out or --logs for this run", name)))
	defer cancel()
	for {
		file, err := openFile(name)
		if err != nil {
			return nil, fmt.Errorf("opening the journal: %w", err)
		}
		if isCurrent, err := lock(ctx, file); isCurrent || err != nil {
			return file, err
		}
		_ = file.Close()
	}
}

// openFile opens the file of a journal, or creates it. The folder for logs is created, too.
func openFile(name string) (*os.File, error) {
	open := safepath.OpenFolder
	if filepath.Base(name) == nameInLogs {
		open = safepath.MakeFolder
	}
	folder, err := open(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	return safepath.OpenFileIn(folder, filepath.Base(name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
}

// lock waits until it has locked a file. It reports whether the file still has its name:
// the run that held the lock before may have removed the file. After an error the file
// is closed.
func lock(ctx context.Context, file *os.File) (isCurrent bool, err error) {
	opened, err := file.Stat()
	if err == nil && !opened.Mode().IsRegular() {
		err = cli.Invalid(fmt.Errorf("the journal %q is not a regular file", file.Name()))
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for err == nil && !tryLock(file) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return false, errors.Join(err, file.Close())
	}
	named, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(opened, named), nil
}

// RemoveEmpty removes a journal that is empty because its run could not begin. The folder
// for logs is removed, too, if it contains nothing else.
func RemoveEmpty(file *os.File) {
	if info, err := file.Stat(); err != nil || info.Size() > 0 || os.Remove(file.Name()) != nil {
		return
	}
	if filepath.Base(file.Name()) == nameInLogs {
		_ = os.Remove(filepath.Dir(file.Name()))
	}
}
