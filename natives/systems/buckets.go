package systems

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/objects"
)

// MaxObject is the size of the largest object of a bucket that natives read or write, in bytes.
const MaxObject = 64 << 20

// The bounds of buckets.
const (
	maxBuckets = 100
	maxKey     = 1024 // bytes, with the prefix; the limit of S3
)

// A SharedBucket is a place in a bucket that others own as well. It has the objects whose keys begin
// with the prefix. Keys are any text and are never cleaned: a//b, /a and a/../b are three keys.
type SharedBucket struct {
	objects *objects.Bucket // the whole bucket
	name    string
	prefix  string // ends with a slash, or is empty
}

// BucketReader returns what reads objects at a place: s3://BUCKET or s3://BUCKET/PREFIX. It
// sends no request yet.
func (s *Systems) BucketReader(ctx context.Context, place string) (integration.BucketReader, error) {
	b, _, err := s.Bucket(ctx, place)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Bucket returns a place in a bucket, s3://BUCKET or s3://BUCKET/PREFIX, and the whole bucket for those who write. It
// sends no request yet.
func (s *Systems) Bucket(ctx context.Context, place string) (SharedBucket, *objects.Bucket, error) {
	rest, ok := strings.CutPrefix(place, "s3://")
	name, prefix, _ := strings.Cut(rest, "/")
	if !ok || name == "" || strings.ContainsAny(name, "?#@: ") || !isKey(prefix) {
		return SharedBucket{}, nil, asConfig(fmt.Errorf("bucket %.200q: want s3://BUCKET or s3://BUCKET/PREFIX", place))
	}
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.buckets[name]
	if !ok {
		var err error
		if b, err = objects.Open(ctx, name); err != nil {
			return SharedBucket{}, nil, asConfig(err)
		}
		if len(s.buckets) < maxBuckets {
			s.buckets[name] = b
		}
	}
	return SharedBucket{b, name, prefix}, b, nil
}

// isKey reports whether a text can be a part of a key of S3.
func isKey(text string) bool {
	return utf8.ValidString(text) && len(text) <= maxKey && !strings.ContainsRune(text, 0)
}

// Get implements [integration.BucketReader].
func (b SharedBucket) Get(ctx context.Context, key string) (raw []byte, version string, err error) {
	if err := b.Check(key); err != nil {
		return nil, "", b.Explain("reading", key, err)
	}
	raw, v, err := b.objects.Get(ctx, b.prefix+key, MaxObject)
	if err != nil {
		return nil, "", b.Explain("reading", key, err)
	}
	return raw, string(v), nil
}

// Keys implements [integration.BucketReader].
func (b SharedBucket) Keys(ctx context.Context, prefix string) ([]string, error) {
	list, err := b.Entries(ctx, prefix)
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, e.Key)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Entries implements [integration.BucketLister].
func (b SharedBucket) Entries(ctx context.Context, prefix string) ([]integration.BucketEntry, error) {
	if !isKey(b.prefix + prefix) {
		return nil, b.Explain("listing", prefix, errKey)
	}
	list, err := b.objects.List(ctx, b.prefix+prefix)
	if err != nil {
		return nil, b.Explain("listing", prefix, err)
	}
	out := make([]integration.BucketEntry, 0, len(list))
	for _, o := range list {
		if key, ok := strings.CutPrefix(o.Key, b.prefix); ok && key != "" { // the place itself may be an object as well
			out = append(out, integration.BucketEntry{Key: key, Written: o.Written})
		}
	}
	slices.SortFunc(out, func(a, b integration.BucketEntry) int { return strings.Compare(a.Key, b.Key) })
	return out, nil
}

// ErrVersion says that a write names no version of the object that was read.
var ErrVersion = errors.New("it needs the version that Get returned")

var errKey = fmt.Errorf("a key is text in UTF-8 without NUL, has 1 to %d bytes with the prefix of the place, and is "+
	"not empty", maxKey)

// Key returns the key of an object in the whole bucket.
func (b SharedBucket) Key(key string) string { return b.prefix + key }

// Check returns an error if a text is no key.
func (b SharedBucket) Check(key string) error {
	if key == "" || !isKey(b.prefix+key) {
		return errKey
	}
	return nil
}

// Explain returns an error of package integration, with the place.
func (b SharedBucket) Explain(what, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, objects.ErrNotFound):
		err = integration.ErrNotThere
	case errors.Is(err, objects.ErrChanged):
		err = integration.ErrChanged
	case errors.Is(err, objects.ErrUnreachable):
		err = asTransient(err)
	case errors.Is(err, objects.ErrDenied), errors.Is(err, objects.ErrTooLarge), errors.Is(err, errKey),
		errors.Is(err, ErrVersion):
		err = asConfig(err)
	}
	return fmt.Errorf("%s %.300q in the bucket %s: %w", what, b.prefix+key, b.name, err)
}
