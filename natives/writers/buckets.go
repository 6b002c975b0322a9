package writers

import (
	"context"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/natives/systems"
)

// A bucket is a place of a bucket that can be written.
type bucket struct {
	systems.SharedBucket
	whole *objects.Bucket
}

// BucketWriter returns what reads and writes objects at a place. It sends no request yet.
func (w *Writers) BucketWriter(ctx context.Context, place string) (integration.BucketWriter, error) {
	b, whole, err := w.Bucket(ctx, place)
	if err != nil {
		return nil, err
	}
	return bucket{b, whole}, nil
}

var errNoVersion = errors.New("the store tells no version of what it wrote")

// Put implements [integration.BucketWriter].
func (b bucket) Put(ctx context.Context, key string, raw []byte, version string) (string, error) {
	err := b.Check(key)
	switch {
	case err != nil:
	case version == string(objects.Any):
		err = systems.ErrVersion
	case len(raw) > systems.MaxObject:
		err = fmt.Errorf("%w: it has more than %d bytes", objects.ErrTooLarge, systems.MaxObject)
	}
	if err != nil {
		return "", b.Explain("writing", key, err)
	}
	v, err := b.whole.Put(ctx, b.Key(key), raw, objects.Version(version))
	if err == nil && v == objects.None {
		err = errNoVersion
	}
	return string(v), b.Explain("writing", key, err)
}

// Remove implements [integration.BucketWriter]. It is no error if the object is gone.
func (b bucket) Remove(ctx context.Context, key, version string) error {
	err := b.Check(key)
	if err == nil && (version == string(objects.None) || version == string(objects.Any)) {
		err = systems.ErrVersion
	}
	if err == nil {
		err = b.whole.Delete(ctx, b.Key(key), objects.Version(version))
	}
	return b.Explain("removing", key, err)
}
