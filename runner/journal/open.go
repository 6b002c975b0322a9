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
)

// patience is how long [Open] waits for another run to end, longer than it gives
// its tasks to end.
const patience = 15 * time.Second

// inLogs is the name of a journal in a folder for logs.
const inLogs = "results.jsonl"

// Name returns where the journal of a run is: beside its results, or with its
// logs when the results go to no file of their own.
func Name(results, logs string) string {
	if strings.HasSuffix(results, ".json") {
		return results + "l"
	}
	return filepath.Join(logs, inLogs)
}

// Open opens a journal, makes it and the folder for logs when there is none, and
// locks it until every copy of the file is closed.
func Open(ctx context.Context, name string) (*os.File, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, cli.Invalid(fmt.Errorf(
		"another run writes %q: wait for its end, or give this one another name for --out or --logs", name)))
	defer cancel()
	for {
		if filepath.Base(name) == inLogs {
			if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
				return nil, fmt.Errorf("opening the journal: %w", err)
			}
		}
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND|noFollow, 0o640)
		if err != nil {
			return nil, fmt.Errorf("opening the journal: %w", err)
		}
		if ours, err := owned(ctx, file); ours || err != nil {
			return file, err
		}
		_ = file.Close()
	}
}

// owned waits for the lock, and tells whether the file still has its name: the
// one before may have taken it away.
func owned(ctx context.Context, file *os.File) (bool, error) {
	opened, err := file.Stat()
	if err == nil && !opened.Mode().IsRegular() {
		err = cli.Invalid(fmt.Errorf("the journal %q is no ordinary file", file.Name()))
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for err == nil && !lock(file) {
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

// Tidy takes away what a run leaves that could not begin: an empty journal, and
// the folder for logs when there is nothing else in it.
func Tidy(file *os.File) {
	if info, err := file.Stat(); err != nil || info.Size() > 0 || os.Remove(file.Name()) != nil {
		return
	}
	if filepath.Base(file.Name()) == inLogs {
		_ = os.Remove(filepath.Dir(file.Name()))
	}
}
