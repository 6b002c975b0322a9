package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/objects"
)

// How long calls of a bucket take at most, and the pauses in between.
const (
	callWait   = 30 * time.Second      // for one call, with all its requests and retries
	updateWait = 20 * time.Second      // until an update gives up because others always write first
	outageWait = 15 * time.Second      // after a call that nobody answered, during which calls fail at once
	firstPause = 20 * time.Millisecond // between two tries of an update; it doubles up to lastPause
	lastPause  = time.Second
)

// An S3 keeps documents as objects of a bucket, below a prefix.
type S3 struct {
	bucket             *objects.Bucket
	prefix             string        // "", or ends with a slash
	conditionalDeletes bool          // the bucket supports them
	wait               time.Duration // how long one call may take

	mu         sync.Mutex
	outage     error     // the error of the last call that nobody answered
	outageEnds time.Time // when the next call tries again
}

var _ Store = (*S3)(nil)

// placePattern matches the place of a state in a bucket.
var placePattern = lazyregexp.New(`^s3://([A-Za-z0-9][A-Za-z0-9._-]{1,62})((?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)/?$`)

// OpenS3 returns the state at s3://BUCKET/PREFIX. It sends requests to find out whether
// the bucket can be read and, for writing, whether it supports conditional writes:
// without them two processes could both believe that they hold the same lease. Its
// errors are those of [At]. If the error is [ErrReadOnly], the S3 can be read.
func OpenS3(ctx context.Context, place string, to Access) (*S3, error) {
	parts := placePattern.FindStringSubmatch(place)
	if parts == nil || len(parts[2]) > 500 {
		return nil, fmt.Errorf("opening the state: %q is no place for it: give s3://BUCKET/PREFIX", place)
	}
	within, cancel := context.WithTimeout(ctx, callWait)
	defer cancel()
	bucket, err := objects.Open(within, parts[1])
	if err != nil {
		return nil, fmt.Errorf("opening the state: %w", err)
	}
	s := &S3{bucket: bucket, wait: callWait}
	if parts[2] != "" {
		s.prefix = parts[2][1:] + "/"
	}
	if to == Writing {
		err = s.probe(within)
	} else if _, _, err = bucket.Get(within, s.prefix+unfinished+"none", 1); errors.Is(err, objects.ErrNotFound) {
		err = nil
	}
	if err != nil && ctx.Err() != nil {
		err = ended(ctx)
	}
	if err != nil {
		err = fmt.Errorf("opening the state %s: %w", strings.TrimSuffix(place, "/"), asStateError(err))
	}
	if errors.Is(err, objects.ErrDenied) && !errors.Is(err, ErrReadOnly) {
		err = fmt.Errorf("%w; it takes s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject", err)
	}
	return s, err
}

// Read implements [Store].
func (s *S3) Read(ctx context.Context, key string) (raw []byte, err error) {
	err = s.call(ctx, "reading", key, func(ctx context.Context) error {
		raw, _, err = s.bucket.Get(ctx, s.prefix+key, MaxDocument)
		return err
	})
	return raw, err
}

// Write implements [Store].
func (s *S3) Write(ctx context.Context, key string, raw []byte) error {
	return s.call(ctx, "writing", key, func(ctx context.Context) error {
		if err := CheckSize(raw); err != nil {
			return err
		}
		_, err := s.bucket.Put(ctx, s.prefix+key, raw, objects.Any)
		return err
	})
}

// Update implements [Store]. It writes on the condition that the document is still the
// one that change was called with.
func (s *S3) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	end := time.Now().Add(updateWait)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := s.call(ctx, "changing", key, func(ctx context.Context) error { return s.tryUpdate(ctx, key, change) })
		if !errors.Is(err, objects.ErrChanged) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("changing %q in the state: %w", key, ErrBusy)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return fmt.Errorf("changing %q in the state: %w", key, ended(ctx))
		}
	}
}

// tryUpdate tries an update once. The error is [objects.ErrChanged] if somebody else wrote
// the document in the meantime.
func (s *S3) tryUpdate(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	old, version, err := s.bucket.Get(ctx, s.prefix+key, MaxDocument)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		old, version = nil, objects.None
	case err != nil:
		return err
	case old == nil:
		old = []byte{}
	}
	raw, err := change(old)
	if err != nil || raw == nil {
		return err
	}
	if err := CheckSize(raw); err != nil {
		return err
	}
	_, err = s.bucket.Put(ctx, s.prefix+key, raw, version)
	return err
}

// Remove implements [Store].
func (s *S3) Remove(ctx context.Context, key string) error { return s.remove(ctx, key, objects.Any) }

// Discard implements [Store]. If the bucket does not support conditional deletes, the
// document is listed again just before it is deleted.
func (s *S3) Discard(ctx context.Context, e Entry) error {
	version := objects.Version(e.etag)
	if s.conditionalDeletes {
		return s.remove(ctx, e.Key, version)
	}
	now, err := s.list(ctx, e.Key)
	if err != nil || len(now) == 0 || now[0].Key != s.prefix+e.Key || now[0].Version != version {
		return err
	}
	return s.remove(ctx, e.Key, objects.Any)
}

func (s *S3) remove(ctx context.Context, key string, version objects.Version) error {
	err := s.call(ctx, "removing", key, func(ctx context.Context) error {
		return s.bucket.Delete(ctx, s.prefix+key, version)
	})
	if errors.Is(err, objects.ErrChanged) {
		return nil // the listed document is gone
	}
	return err
}

// List implements [Store].
func (s *S3) List(ctx context.Context, folder string) ([]Entry, error) {
	if err := CheckFolder(folder); err != nil {
		return nil, err
	}
	if folder != "" {
		folder += "/"
	}
	found, err := s.list(ctx, folder)
	var out []Entry
	for _, o := range found {
		if key := strings.TrimPrefix(o.Key, s.prefix); keyPattern.MatchString(key) {
			out = append(out, Entry{Key: key, Size: o.Size, Written: o.Written, etag: string(o.Version)})
		}
	}
	sortNewestFirst(out)
	return out, err
}

func (s *S3) list(ctx context.Context, prefix string) (found []objects.Object, err error) {
	err = s.call(ctx, "listing", "all", func(ctx context.Context) error {
		found, err = s.bucket.List(ctx, s.prefix+prefix)
		return err
	})
	return found, err
}

// tidy removes objects that processes left when they died before a time, while they
// tried out the bucket.
func (s *S3) tidy(ctx context.Context, before time.Time) error {
	found, err := s.list(ctx, unfinished)
	for _, o := range found {
		if err == nil && o.Written.Before(before) {
			err = s.call(ctx, "tidying", "all", func(ctx context.Context) error {
				return s.bucket.Delete(ctx, o.Key, objects.Any)
			})
		}
	}
	return err
}

// call sends requests to the bucket, in bounded time. After a call that nobody
// answered, the calls of the next seconds fail at once and do not wait, too. A call
// whose context ended says nothing about the bucket.
func (s *S3) call(ctx context.Context, doing, key string, do func(context.Context) error) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	err := ended(ctx)
	if err == nil {
		err = s.recentOutage()
	}
	if err == nil {
		err = s.callWithin(ctx, do)
	}
	if err != nil {
		return fmt.Errorf("%s %q in the state: %w", doing, path.Clean(key), asStateError(err))
	}
	return nil
}

// recentOutage returns the error of the last call that nobody answered, and nil when
// that was some time ago.
func (s *S3) recentOutage() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().After(s.outageEnds) {
		return nil
	}
	return s.outage
}

// callWithin calls do with a time limit, and remembers when nobody answered.
func (s *S3) callWithin(ctx context.Context, do func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	err := do(within)
	switch {
	case err != nil && ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(err, objects.ErrUnreachable):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.outage, s.outageEnds = err, time.Now().Add(outageWait)
	}
	return err
}

// asStateError replaces the errors of package objects that have another name here.
func asStateError(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return ErrNotFound
	}
	return err
}
