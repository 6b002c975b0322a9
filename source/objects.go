package source

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/objects"
)

// parseObject splits s3://BUCKET/KEY.
func parseObject(ref string) (objects.Place, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(ref, "s3://"), "/")
	if bucket == "" || key == "" {
		return objects.Place{}, errors.New("give s3://BUCKET/KEY")
	}
	return objects.Place{Bucket: bucket, Key: key}, nil
}

// Bucket opens the bucket of an object and returns the key of the object.
func Bucket(ctx context.Context, ref string) (*objects.Bucket, string, error) {
	at, err := parseObject(ref)
	if err != nil {
		return nil, "", cli.Usage(fmt.Errorf("%s: %w", ref, err))
	}
	bucket, err := objects.Open(ctx, at.Bucket)
	return bucket, at.Key, err
}

// Put stores an object; it replaces an object that is there.
func Put(ctx context.Context, ref string, raw []byte) error {
	bucket, key, err := Bucket(ctx, ref)
	if err != nil {
		return err
	}
	if _, err := bucket.Put(ctx, key, raw, objects.Any); err != nil {
		return fmt.Errorf("writing %s: %w", ref, err)
	}
	return nil
}

// Object returns the bytes of an object, nil when there is no such object.
func Object(ctx context.Context, ref string) ([]byte, error) {
	bucket, key, err := Bucket(ctx, ref)
	if err != nil {
		return nil, err
	}
	raw, _, err := bucket.Get(ctx, key, maxObject)
	switch {
	case errors.Is(err, objects.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", ref, err)
	}
	return raw, nil
}
