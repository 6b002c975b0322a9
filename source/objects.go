package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/plan"
)

// placeOf takes s3://BUCKET/KEY apart.
func placeOf(ref string) (objects.Place, error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(ref, "s3://"), "/")
	if bucket == "" || key == "" {
		return objects.Place{}, errors.New("give s3://BUCKET/KEY")
	}
	return objects.Place{Bucket: bucket, Key: key}, nil
}

// Bucket opens the bucket of an object, and returns the object's key.
func Bucket(ctx context.Context, ref string) (*objects.Bucket, string, error) {
	at, err := placeOf(ref)
	if err != nil {
		return nil, "", cli.Usage(fmt.Errorf("%s: %w", ref, err))
	}
	bucket, err := objects.Open(ctx, at.Bucket)
	return bucket, at.Key, err
}

// Put stores an object, in place of the one that is there.
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

// Object returns an object, nil when there is none.
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

// FetchPlan is [ReadPlan] for a plan that may be an object.
func FetchPlan(ctx context.Context, name string) (*plan.Plan, error) {
	if !IsObject(name) {
		return ReadPlan(name)
	}
	raw, err := read(ctx, name)
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("reading plan: %w", err))
	}
	p, err := plan.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, cli.Invalid(fmt.Errorf("plan %q: %w", name, err))
	}
	return p, nil
}

// objectRules reads settings that are an object. Tasks then run in the current
// folder, and the files that the settings name are not at hand.
func objectRules(ctx context.Context, name string) (Rules, error) {
	raw, err := read(ctx, name)
	if err != nil {
		return Rules{}, cli.Invalid(fmt.Errorf("reading settings: %w", err))
	}
	s, err := integration.ReadSettings(name, raw)
	if err != nil {
		return Rules{}, cli.Invalid(err)
	}
	s.File = DefaultSettings
	return Rules{Settings: s, Query: func(path string) ([]byte, error) {
		return nil, fmt.Errorf("%s is not beside %s, which is an object: plan with settings in a folder", path, name)
	}}, nil
}
