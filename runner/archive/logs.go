package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/internal/safepath"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

const (
	maxParallel     = 8               // logs that are copied at the same time
	logTimeout      = 5 * time.Minute // for one log
	maxBucketErrors = 5               // errors of the bucket itself, after which no further log is tried
)

// A LogStore is the place in a bucket where the logs of a run are stored.
type LogStore struct {
	Bucket *objects.Bucket
	Folder string // the folder of the results
}

// comparedFolders are the folders for the logs of runs that are compared, inside the
// folder for logs: of runs on base, and of runs on head that were started as on base.
var comparedFolders = []string{"base", "alike"}

// A logReference is a place in a result that names a log.
type logReference struct {
	task string
	name *string // the name in the result
	path string  // the path in the folder for logs; "" if no log of the task can have the name
}

// findReferences lists all places in results that name a log. The names must begin with
// the prefix, which is the name of the folder for logs.
func findReferences(results []plan.Result, prefix string) []logReference {
	var out []logReference
	for i := range results {
		r := &results[i]
		names := []*string{&r.Log}
		for k := range r.Before {
			names = append(names, &r.Before[k].Log)
		}
		if r.Baseline != nil {
			names = append(names, &r.Baseline.Log)
			for k := range r.Baseline.MoreLogs {
				names = append(names, &r.Baseline.MoreLogs[k])
			}
		}
		for _, name := range names {
			if *name != "" {
				out = append(out, logReference{r.Task, name, logPath(r.Task, *name, prefix)})
			}
		}
	}
	return out
}

// attemptSuffix matches the end of a log's name, after the name of its task: ".log" for
// the first attempt, ".2.log" for the second.
var attemptSuffix = lazyregexp.New(`^(\.[1-9])?\.log$`)

// logPath returns the path of a task's log inside the folder for logs, "" if no log of
// the task can have the name.
func logPath(task, name, prefix string) string {
	file := path.Base(name)
	suffix, isOfTask := strings.CutPrefix(file, strings.TrimSuffix(wrapper.LogName(task), ".log"))
	switch {
	case !isOfTask || !attemptSuffix.MatchString(suffix):
		return ""
	case name == path.Join(prefix, file):
		return file
	}
	for _, folder := range comparedFolders {
		if name == path.Join(prefix, folder, file) {
			return path.Join(folder, file)
		}
	}
	return ""
}

var (
	errName    = errors.New("no log of this task can have this name")
	errRegular = errors.New("it is not a regular file")
)

// copyLogs calls a function for each log, several at the same time, and returns the error
// of each call.
func copyLogs(ctx context.Context, logs []logReference, copyLog func(context.Context, logReference) error) []error {
	errs := make([]error, len(logs))
	var bucketErrors atomic.Int32
	var g errgroup.Group
	g.SetLimit(maxParallel)
	for i, log := range logs {
		g.Go(func() error {
			switch {
			case log.path == "":
				errs[i] = errName
			case ctx.Err() != nil:
				errs[i] = ctx.Err()
			case bucketErrors.Load() >= maxBucketErrors:
				errs[i] = objects.ErrUnreachable
			default:
				ctx, cancel := context.WithTimeout(ctx, logTimeout)
				defer cancel()
				if errs[i] = copyLog(ctx, log); errors.Is(errs[i], objects.ErrUnreachable) ||
					errors.Is(errs[i], objects.ErrDenied) {
					bucketErrors.Add(1)
				}
			}
			return nil
		})
	}
	_ = g.Wait()
	return errs
}

// summarize returns one error for the logs that could not be copied: how many they are,
// and why the first could not be copied. It returns nil if all were copied. The action is
// "stored in the bucket", for example.
func summarize(action string, logs []logReference, errs []error) error {
	failed, first := 0, -1
	for i, err := range errs {
		if err == nil {
			continue
		}
		if failed++; first < 0 {
			first = i
		}
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d logs could not be %s; the first is of task %q: %w", failed, len(logs), action,
		logs[first].task, errs[first])
}

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
