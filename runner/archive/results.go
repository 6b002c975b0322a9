package archive

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"time"

	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
)

// graceTime is how long storing may take after the context has ended.
const graceTime = 30 * time.Second

// StoreResults stores results as an object, and the logs that they name beside it. It
// reads the logs from the folder in which the run wrote them. If the context has ended,
// StoreResults still stores the results, since they say which tasks had ended by then.
//
// The results are stored before the logs, so that no error of a log can lose them. If a
// log cannot be stored, the results get a warning and are stored a second time.
func StoreResults(ctx context.Context, bucket *objects.Bucket, key, dir string, r *plan.Results) error {
	if err := putResults(ctx, bucket, key, r); err != nil {
		return err
	}
	if err := storeLogs(ctx, LogStore{Bucket: bucket, Folder: path.Dir(key)}, dir, r); err != nil {
		r.Warnings = append(r.Warnings, err.Error())
		return putResults(ctx, bucket, key, r)
	}
	return nil
}

// storeLogs stores logs. If the context has ended, they are stored all the same, within a
// short time limit.
func storeLogs(ctx context.Context, to LogStore, dir string, r *plan.Results) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), graceTime)
		defer cancel()
	}
	return to.Store(ctx, dir, r.Results)
}

// putResults stores results as an object, also if the context has ended.
func putResults(ctx context.Context, bucket *objects.Bucket, key string, r *plan.Results) error {
	var out bytes.Buffer
	if err := plan.WriteResults(&out, r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	if _, err := bucket.Put(ctx, key, out.Bytes(), objects.Any); err != nil {
		return fmt.Errorf("writing the results as %q: %w", key, err)
	}
	return nil
}
