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

// The bounds of buckets.
const (
	maxBuckets = 100
	maxObject  = 64 << 20 // bytes
	maxKey     = 1024     // bytes, with the prefix; the limit of S3
)

// A bucket is a place in a bucket that others own as well. It has the objects whose keys begin
// with the prefix. Keys are any text and are never cleaned: a//b, /a and a/../b are three keys.
type bucket struct {
	objects *objects.Bucket
	name    string
	prefix  string // ends with a slash, or is empty
}

// A writableBucket is a bucket that can be written.
type writableBucket struct{ bucket }

// BucketReader returns what reads objects at a place: s3://BUCKET or s3://BUCKET/PREFIX. It
// sends no request yet.
func (s *Systems) BucketReader(ctx context.Context, place string) (integration.BucketReader, error) {
	b, err := s.bucket(ctx, place)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// BucketWriter returns what reads and writes objects at a place. It sends no request yet.
func (s *Systems) BucketWriter(ctx context.Context, place string) (integration.BucketWriter, error) {
	b, err := s.bucket(ctx, place)
	if err != nil {
		return nil, err
	}
	return writableBucket{b}, nil
}

func (s *shared) bucket(ctx context.Context, place string) (bucket, error) {
	rest, ok := strings.CutPrefix(place, "s3://")
	name, prefix, _ := strings.Cut(rest, "/")
	if !ok || name == "" || strings.ContainsAny(name, "?#@: ") || !isKey(prefix) {
		return bucket{}, asConfig(fmt.Errorf("bucket %.200q: want s3://BUCKET or s3://BUCKET/PREFIX", place))
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
			return bucket{}, asConfig(err)
		}
		if len(s.buckets) < maxBuckets {
			s.buckets[name] = b
		}
	}
	return bucket{b, name, prefix}, nil
}

// isKey reports whether a text can be a part of a key of S3.
func isKey(text string) bool {
	return utf8.ValidString(text) && len(text) <= maxKey && !strings.ContainsRune(text, 0)
}

// Get implements [integration.BucketReader].
func (b bucket) Get(ctx context.Context, key string) (raw []byte, version string, err error) {
	if err := b.check(key); err != nil {
		return nil, "", b.explain("reading", key, err)
	}
	raw, v, err := b.objects.Get(ctx, b.prefix+key, maxObject)
	if err != nil {
		return nil, "", b.explain("reading", key, err)
	}
	return raw, string(v), nil
}

// Keys implements [integration.BucketReader].
func (b bucket) Keys(ctx context.Context, prefix string) ([]string, error) {
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
func (b bucket) Entries(ctx context.Context, prefix string) ([]integration.BucketEntry, error) {
	if !isKey(b.prefix + prefix) {
		return nil, b.explain("listing", prefix, errKey)
	}
	list, err := b.objects.List(ctx, b.prefix+prefix)
	if err != nil {
		return nil, b.explain("listing", prefix, err)
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

// Put implements [integration.BucketWriter].
func (b writableBucket) Put(ctx context.Context, key string, raw []byte, version string) (string, error) {
	err := b.check(key)
	switch {
	case err != nil:
	case version == string(objects.Any):
		err = errVersion
	case len(raw) > maxObject:
		err = fmt.Errorf("%w: it has more than %d bytes", objects.ErrTooLarge, maxObject)
	}
	if err != nil {
		return "", b.explain("writing", key, err)
	}
	v, err := b.objects.Put(ctx, b.prefix+key, raw, objects.Version(version))
	if err == nil && v == objects.None {
		err = errNoVersion
	}
	return string(v), b.explain("writing", key, err)
}

// Remove implements [integration.BucketWriter]. It is no error if the object is gone.
func (b writableBucket) Remove(ctx context.Context, key, version string) error {
	err := b.check(key)
	if err == nil && (version == string(objects.None) || version == string(objects.Any)) {
		err = errVersion
	}
	if err == nil {
		err = b.objects.Delete(ctx, b.prefix+key, objects.Version(version))
	}
	return b.explain("removing", key, err)
}

var (
	errKey       = fmt.Errorf("a key is text in UTF-8 without NUL, has 1 to %d bytes with the prefix of the place, and is not empty", maxKey)
	errVersion   = errors.New("it needs the version that Get returned")
	errNoVersion = errors.New("the store tells no version of what it wrote")
)

// check returns an error if a text is no key.
func (b bucket) check(key string) error {
	if key == "" || !isKey(b.prefix+key) {
		return errKey
	}
	return nil
}

// explain returns an error of package integration, with the place.
func (b bucket) explain(what, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, objects.ErrNotFound):
		err = integration.ErrNotThere
	case errors.Is(err, objects.ErrChanged):
		err = integration.ErrChanged
	case errors.Is(err, objects.ErrUnreachable):
		err = asTransient(err)
	case errors.Is(err, objects.ErrDenied), errors.Is(err, objects.ErrTooLarge), errors.Is(err, errKey), errors.Is(err, errVersion):
		err = asConfig(err)
	}
	return fmt.Errorf("%s %.300q in the bucket %s: %w", what, b.prefix+key, b.name, err)
}
