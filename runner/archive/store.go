package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

const (
	atOnce   = 8               // logs on their way
	patience = 5 * time.Minute // with one log
	giveUp   = 5               // times that the store itself fails
)

// A Place is where the logs of results are in a bucket.
type Place struct {
	Bucket *objects.Bucket
	Folder string // of the results
}

// A log is one that a result names.
type log struct {
	task  string
	shown *string // in the result
	name  string  // in the folder of logs; "" when no log can be called like that
}

// named lists the logs that results name, each of them once. Prefix is what their
// names begin with.
func named(results []plan.Result, prefix string) []log {
	var out []log
	for i := range results {
		r := &results[i]
		shown := []*string{&r.Log}
		for k := range r.Before {
			shown = append(shown, &r.Before[k].Log)
		}
		if r.Baseline != nil {
			shown = append(shown, &r.Baseline.Log)
		}
		for _, s := range shown {
			if *s != "" {
				out = append(out, log{r.Task, s, inside(r.Task, *s, prefix)})
			}
		}
	}
	return out
}

// attempt is what the name of a log has after that of its task.
var attempt = regexp.MustCompile(`^(\.[1-9])?\.log$`)

// inside returns where in the folder of logs the log of a task lies, or in that
// on base below it; "" when no log of this task is called like that.
func inside(task, shown, prefix string) string {
	file := path.Base(shown)
	number, ok := strings.CutPrefix(file, strings.TrimSuffix(wrapper.LogName(task), ".log"))
	switch {
	case !ok || !attempt.MatchString(number):
		return ""
	case shown == path.Join(prefix, file):
		return file
	case shown == path.Join(prefix, onBase, file):
		return path.Join(onBase, file)
	}
	return ""
}

// onBase is the folder of the logs of runs on base.
const onBase = "base"

// Store stores the logs that results name, from the folder in which the run kept
// them. The error tells how many could not be, and why the first could not.
func (p Place) Store(ctx context.Context, dir string, results []plan.Result) error {
	prefix := filepath.Base(dir)
	all := named(results, prefix)
	if len(all) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("the logs are not in the bucket: %w", err)
	}
	defer root.Close()
	return told("not in the bucket", all, each(ctx, all, func(ctx context.Context, l log) error {
		key := path.Join(prefix, l.name)
		if !filepath.IsLocal(key) {
			return errName
		}
		return p.upload(ctx, root, l.name, path.Join(p.Folder, key))
	}))
}

func (p Place) upload(ctx context.Context, root *os.Root, name, key string) error {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errFile)
	}
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return p.Bucket.Upload(ctx, key, file)
}

var (
	errName = errors.New("no log of this task is called like that")
	errFile = errors.New("it is no file")
)

// each does something with all logs, and returns the errors of each.
func each(ctx context.Context, all []log, do func(context.Context, log) error) []error {
	errs := make([]error, len(all))
	var down atomic.Int32
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, l := range all {
		g.Go(func() error {
			switch {
			case l.name == "":
				errs[i] = errName
			case ctx.Err() != nil:
				errs[i] = ctx.Err()
			case down.Load() >= giveUp:
				errs[i] = objects.ErrUnreachable
			default:
				ctx, cancel := context.WithTimeout(ctx, patience)
				defer cancel()
				if errs[i] = do(ctx, l); errors.Is(errs[i], objects.ErrUnreachable) || errors.Is(errs[i], objects.ErrDenied) {
					down.Add(1)
				}
			}
			return nil
		})
	}
	_ = g.Wait()
	return errs
}

// told is one error for all logs that something failed with, nil when there is
// none.
func told(what string, all []log, errs []error) error {
	lost, first := 0, -1
	for i, err := range errs {
		if err == nil {
			continue
		}
		if lost++; first < 0 {
			first = i
		}
	}
	if lost == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d logs are %s; of task %q: %w", lost, len(all), what, all[first].task, errs[first])
}
