package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/internal/objects"
)

// errNoConditions says that a bucket cannot hold a state.
var errNoConditions = errors.New("the store does not keep to the conditions of writes (If-Match, If-None-Match), so " +
	"two runs could overwrite each other unseen: " +
	"use one that keeps to them, or a folder")

// probe finds out whether the bucket supports conditional writes, and conditional
// deletes: it writes an object of its own with conditions that hold and conditions that
// do not.
func (s *S3) probe(ctx context.Context) error {
	key := s.prefix + unfinished + rand.Text()
	put := func(text string, was objects.Version) (objects.Version, error) {
		return s.bucket.Put(ctx, key, []byte(text), was)
	}
	first, err := put("first", objects.None)
	switch {
	case errors.Is(err, objects.ErrDenied):
		return s.readOnlyError(ctx, key, err)
	case errors.Is(err, errors.ErrUnsupported):
		return errNoConditions
	case err != nil:
		return err
	}
	// an object that is left is removed by the next collection
	defer func() { _ = s.bucket.Delete(ctx, key, objects.Any) }()
	if err := mustBeRefused(put("again", objects.None)); err != nil {
		return err
	}
	second, err := put("second", first)
	if errors.Is(err, objects.ErrChanged) {
		return errors.New("the store refuses writes whose condition holds (If-Match): use another, or a folder")
	}
	if err != nil {
		return err
	}
	if err := mustBeRefused(put("third", first)); err != nil {
		return err
	}
	raw, version, err := s.bucket.Get(ctx, key, MaxDocument)
	if err == nil && (string(raw) != "second" || version != second) {
		err = errors.New("the store does not return what was written: use another, or a folder")
	}
	if err != nil {
		return err
	}
	s.conditionalDeletes = errors.Is(s.bucket.Delete(ctx, key, first), objects.ErrChanged)
	return nil
}

// mustBeRefused returns an error unless a write was refused because its condition did
// not hold.
func mustBeRefused(_ objects.Version, err error) error {
	switch {
	case err == nil:
		return errNoConditions
	case errors.Is(err, objects.ErrChanged):
		return nil
	}
	return err
}

// readOnlyError returns [ErrReadOnly] for a bucket that denied a write, or the error of
// reading it if it cannot be read either.
func (s *S3) readOnlyError(ctx context.Context, key string, denied error) error {
	if _, _, err := s.bucket.Get(ctx, key, 1); err != nil && !errors.Is(err, objects.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrReadOnly, denied)
}
