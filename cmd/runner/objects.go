package main

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/logs"
	"github.com/app-sre/prcheck/source"
)

// file is the file for the results, "" when they go elsewhere.
func (f runFlags) file() string {
	if source.IsObject(f.out) {
		return ""
	}
	return f.out
}

// patience is how long results are tried to be stored after the run was told to
// end.
const patience = 30 * time.Second

// keepResults stores results as an object, and the logs that they name beside it.
// The results go first, and again when a log is lost: so they are there whatever
// becomes of the logs.
func keepResults(ctx context.Context, ref, dir string, r *plan.Results) error {
	if err := putResults(ctx, ref, r); err != nil {
		return err
	}
	if err := keepLogs(ctx, ref, dir, r); err != nil {
		r.Warnings = append(r.Warnings, err.Error())
		return putResults(ctx, ref, r)
	}
	return nil
}

func keepLogs(ctx context.Context, ref, dir string, r *plan.Results) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
	}
	bucket, key, err := source.Bucket(ctx, ref)
	if err != nil {
		return err
	}
	return logs.Place{Bucket: bucket, Folder: path.Dir(key)}.Store(ctx, dir, r.Results)
}

// putResults stores results as an object, also after an interruption: they tell
// what had ended by then.
func putResults(ctx context.Context, ref string, r *plan.Results) error {
	var out bytes.Buffer
	if err := plan.WriteResults(&out, r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return source.Put(ctx, ref, out.Bytes())
}

// indexed is a part of a plan as a flag, whose number may be the one that
// Kubernetes gives a pod of an Indexed Job, which counts from 0: index/8, or
// index+3/8 in a Job whose first pod runs the fourth part.
type indexed struct {
	*plan.Fraction
	getenv func(string) string
}

// Set reads i/n, index/n or index+f/n.
func (p indexed) Set(s string) error {
	index, of, _ := strings.Cut(s, "/")
	index, ok := strings.CutPrefix(index, "index")
	if !ok {
		return p.Fraction.Set(s)
	}
	first := 0
	if index != "" {
		f, err := strconv.ParseUint(strings.TrimPrefix(index, "+"), 10, 31)
		if err != nil || index[0] != '+' {
			return fmt.Errorf("%q is no part of a plan; write index/8, or index+3/8", s)
		}
		first = int(f)
	}
	i, err := strconv.Atoi(p.getenv("JOB_COMPLETION_INDEX"))
	if err != nil || i < 0 || i > plan.MaxParts {
		return fmt.Errorf("%s takes the number from JOB_COMPLETION_INDEX, which is %q", s, p.getenv("JOB_COMPLETION_INDEX"))
	}
	return p.Fraction.Set(fmt.Sprintf("%d/%s", first+i+1, of))
}
