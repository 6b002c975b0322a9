package state

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/internal/objects"
)

// How long a bucket is waited for.
const (
	callWait   = 30 * time.Second      // one call, with all its requests and retries
	updateWait = 20 * time.Second      // until an update that others outrun gives up
	downFor    = 15 * time.Second      // after a call that reached nobody, none is tried
	firstPause = 20 * time.Millisecond // between two tries of an update; it grows
	lastPause  = time.Second
)

// An S3 keeps documents as objects of a bucket, below a prefix.
type S3 struct {
	bucket *objects.Bucket
	prefix string // "", or ends with a slash
	// exact: deletes keep to conditions, too.
	exact bool
	wait  time.Duration // how long one call may take

	mu    sync.Mutex
	until time.Time // nothing is tried before
	down  error
}

var _ Store = (*S3)(nil)

// plainPlace is what the place of a state looks like.
var plainPlace = regexp.MustCompile(`^s3://([A-Za-z0-9][A-Za-z0-9._-]{1,62})((?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)/?$`)

// OpenS3 returns what is remembered at s3://BUCKET/PREFIX. It asks whether that
// can be used, and for writing whether the store keeps to the conditions of
// writes: without them two writers could both believe to hold a lease. See [At]
// for its errors; with [ErrReadOnly] the S3 can be read.
func OpenS3(ctx context.Context, place string, to Access) (*S3, error) {
	parts := plainPlace.FindStringSubmatch(place)
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
		err = fmt.Errorf("opening the state %s: %w", strings.TrimSuffix(place, "/"), ours(err))
	}
	if errors.Is(err, objects.ErrDenied) && !errors.Is(err, ErrReadOnly) {
		err = fmt.Errorf("%w; it takes s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject", err)
	}
	return s, err
}

// Read returns a document. The error is [ErrNotFound] when there is none.
func (s *S3) Read(ctx context.Context, key string) (raw []byte, err error) {
	err = s.call(ctx, "reading", key, func(ctx context.Context) error {
		raw, _, err = s.bucket.Get(ctx, s.prefix+key, MaxDocument)
		return err
	})
	return raw, err
}

// Write stores a document, in place of the one that is there.
func (s *S3) Write(ctx context.Context, key string, raw []byte) error {
	return s.call(ctx, "writing", key, func(ctx context.Context) error {
		if err := checkSize(raw); err != nil {
			return err
		}
		_, err := s.bucket.Put(ctx, s.prefix+key, raw, objects.Any)
		return err
	})
}

// Update replaces a document by what change makes of it, by writes with the
// condition that it is still what change got.
func (s *S3) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	end := time.Now().Add(updateWait)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := s.call(ctx, "changing", key, func(ctx context.Context) error { return s.update(ctx, key, change) })
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

func (s *S3) update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
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
	if err := checkSize(raw); err != nil {
		return err
	}
	_, err = s.bucket.Put(ctx, s.prefix+key, raw, version)
	return err
}

// Remove forgets a document. One that is not there is no error.
func (s *S3) Remove(ctx context.Context, key string) error { return s.remove(ctx, key, objects.Any) }

// Discard forgets a document if it is still as it was listed. Where the store
// deletes without looking at conditions it is looked at just before.
func (s *S3) Discard(ctx context.Context, e Entry) error {
	version := objects.Version(e.etag)
	if s.exact {
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
		return nil // what was to be removed is gone
	}
	return err
}

// List returns the documents below a key, the newest first.
func (s *S3) List(ctx context.Context, folder string) ([]Entry, error) {
	if err := checkFolder(folder); err != nil {
		return nil, err
	}
	if folder != "" {
		folder += "/"
	}
	found, err := s.list(ctx, folder)
	var out []Entry
	for _, o := range found {
		if key := strings.TrimPrefix(o.Key, s.prefix); plainKey.MatchString(key) {
			out = append(out, Entry{Key: key, Size: o.Size, Written: o.Written, etag: string(o.Version)})
		}
	}
	newestFirst(out)
	return out, err
}

func (s *S3) list(ctx context.Context, prefix string) (found []objects.Object, err error) {
	err = s.call(ctx, "listing", "all", func(ctx context.Context) error {
		found, err = s.bucket.List(ctx, s.prefix+prefix)
		return err
	})
	return found, err
}

// tidy removes what writers that died left behind before a time.
func (s *S3) tidy(ctx context.Context, before time.Time) error {
	found, err := s.list(ctx, unfinished)
	for _, o := range found {
		if err == nil && o.Written.Before(before) {
			err = s.call(ctx, "tidying", "all", func(ctx context.Context) error { return s.bucket.Delete(ctx, o.Key, objects.Any) })
		}
	}
	return err
}

// call asks the bucket for something, in bounded time. After a call that reached
// nobody, those that come soon after fail at once instead of waiting, too. A call
// whose context ended says nothing about the bucket.
func (s *S3) call(ctx context.Context, doing, key string, do func(context.Context) error) error {
	if err := check(key); err != nil {
		return err
	}
	err := ended(ctx)
	if err == nil {
		err = s.lastOutage()
	}
	if err == nil {
		err = s.ask(ctx, do)
	}
	if err != nil {
		return fmt.Errorf("%s %q in the state: %w", doing, path.Clean(key), ours(err))
	}
	return nil
}

// lastOutage returns the error of the last call that reached nobody, for a while.
func (s *S3) lastOutage() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().After(s.until) {
		return nil
	}
	return s.down
}

func (s *S3) ask(ctx context.Context, do func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	err := do(within)
	switch {
	case err != nil && ctx.Err() != nil:
		return ended(ctx)
	case errors.Is(err, objects.ErrUnreachable):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.until, s.down = time.Now().Add(downFor), err
	}
	return err
}

// ours gives an error of the bucket the name that it has here.
func ours(err error) error {
	if errors.Is(err, objects.ErrNotFound) {
		return ErrNotFound
	}
	return err
}
