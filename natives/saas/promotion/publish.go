package promotion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// maxTries is how often an object is written again because somebody else was faster.
const maxTries = 8

// Publish writes the record of a run of a commit at a place, on top of the one that is there. A
// record that cannot be used is left alone, which is an error. A run that the record says already
// writes nothing.
func Publish(ctx context.Context, bucket integration.BucketWriter, at RecordPlace, commit string, run Result) error {
	key, err := Key(at, commit)
	if err != nil {
		return err
	}
	switch wasReplaced, err := noteRun(ctx, bucket, at, commit, run.At); {
	case err != nil:
		return fmt.Errorf("noting the run of %.12s at %s in the channel %s: %w", commit, at.UID, at.Channel, err)
	default:
		run.Replaced = run.Replaced || wasReplaced
	}
	doing := fmt.Sprintf("writing the record of %.12s at %s in the channel %s", commit, at.UID, at.Channel)
	for range maxTries {
		if err = publishOnce(ctx, bucket, at, commit, key, run); !errors.Is(err, integration.ErrChanged) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// publishOnce tries once to write a record.
func publishOnce(ctx context.Context, bucket integration.BucketWriter, at RecordPlace, commit, key string,
	run Result) error {
	raw, version, err := bucket.Get(ctx, key)
	var old *Record
	switch {
	case errors.Is(err, integration.ErrNotThere):
		version = ""
	case err != nil:
		return err
	default:
		r, err := ParseRecord(raw)
		if err != nil {
			return fmt.Errorf("the one that is there is left alone: %w", err)
		}
		old = &r
		if r.Success && run.Success {
			run.Replaced = run.Replaced || replaced(ctx, bucket, at, commit, r)
		}
	}
	next := run.Next(old).Bytes()
	if bytes.Equal(next, raw) {
		return nil
	}
	_, err = bucket.Put(ctx, key, next, version)
	return err
}

// replaced reports whether another commit ran at a place since a record was made. What cannot be
// read counts as another commit: then the commit only soaks for longer.
func replaced(ctx context.Context, bucket integration.BucketReader, at RecordPlace, commit string, was Record) bool {
	since, ok := was.Since()
	if !ok {
		return true
	}
	log := NewRecords(bucket, 1).Log(ctx, at)
	if log.Err != nil || len(log.Wrong) > 0 {
		return true
	}
	for sha, r := range log.Records {
		if at, ok := r.Since(); ok && sha != commit && at.After(since) {
			return true
		}
	}
	return false
}

// Book writes the end of a run of a target into its ledger. A ledger without runs takes over what the records of the
// target's channels tell.
func Book(ctx context.Context, bucket integration.BucketWriter, t *saas.Target, run ledger.Run) error {
	return book(ctx, bucket, t, run, func(*ledger.Book) bool { return false })
}

// BookOnce does so unless the ledger has a run of the commit that ended since a time, because the deployment noted it.
func BookOnce(ctx context.Context, bucket integration.BucketWriter, t *saas.Target, run ledger.Run,
	since time.Time) error {
	return book(ctx, bucket, t, run, func(b *ledger.Book) bool {
		n := len(b.Runs)
		return n > 0 && b.Runs[n-1].Commit == run.Commit && !b.Runs[n-1].At.Before(since)
	})
}

// book writes the end of a run, unless it is there.
func book(ctx context.Context, bucket integration.BucketWriter, t *saas.Target, run ledger.Run,
	isThere func(*ledger.Book) bool) error {
	var channels []string
	if t.Promotion != nil {
		channels = t.Promotion.Publish
	}
	_, err := ledger.Update(ctx, bucket, t.UID(), t.Label(), func(b *ledger.Book) (*ledger.Book, error) {
		switch {
		case isThere(b):
			return b, nil
		case len(b.Runs) > 0 || len(channels) == 0:
			return b.Append(run), nil
		}
		is, err := taken(ctx, NewRecords(bucket, 1), b, t.UID(), channels)
		if err != nil {
			return nil, err
		}
		return is.Append(run), nil
	})
	return err
}

// RunOf returns the end of a run of a target for its ledger. What must be verified begins to be.
func RunOf(settings saas.Settings, t *saas.Target, commit string, ok bool, at time.Time) ledger.Run {
	run := ledger.Run{Commit: commit, At: at, Result: ledger.Failed, Config: t.Hash()}
	if ok {
		run.Result = ledger.Good
	}
	if v, is := settings.VerificationOf(t); ok && is {
		run.Check = &ledger.Check{Seconds: int64(v.For.Seconds())}
		if v.Job != nil {
			run.Check.Seconds = 0 // its end is the result
		}
	}
	return run
}
