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

// storeTime is how long storing may take after the context ended.
const storeTime = 30 * time.Second

// StoreResults stores results as an object, and the logs that they name beside it,
// from the folder in which the run kept them. It does so also after the context
// ended, since the results say what had ended by then.
//
// The results are stored first, so that they are there whatever becomes of the logs.
// If a log is lost, the results get a warning and are stored once more.
func StoreResults(ctx context.Context, bucket *objects.Bucket, key, dir string, r *plan.Results) error {
	if err := putResults(ctx, bucket, key, r); err != nil {
		return err
	}
	if err := storeLogs(ctx, Place{Bucket: bucket, Folder: path.Dir(key)}, dir, r); err != nil {
		r.Warnings = append(r.Warnings, err.Error())
		return putResults(ctx, bucket, key, r)
	}
	return nil
}

// storeLogs stores logs. A running context sets no limit to it, an ended context
// sets a short limit.
func storeLogs(ctx context.Context, to Place, dir string, r *plan.Results) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), storeTime)
		defer cancel()
	}
	return to.Store(ctx, dir, r.Results)
}

func putResults(ctx context.Context, bucket *objects.Bucket, key string, r *plan.Results) error {
	var out bytes.Buffer
	if err := plan.WriteResults(&out, r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	if _, err := bucket.Put(ctx, key, out.Bytes(), objects.Any); err != nil {
		return fmt.Errorf("writing the results as %q: %w", key, err)
	}
	return nil
}
