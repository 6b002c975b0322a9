package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/app-sre/prcheck/internal/objects"
)

// errNoConditions says that a store is of no use.
var errNoConditions = errors.New("the store does not keep to the conditions of writes (If-Match, If-None-Match), so two runs could overwrite each other unseen: " +
	"use one that keeps to them, or a folder")

// probe asks the store, with an object of its own, whether it keeps to the
// conditions of writes.
func (s *S3) probe(ctx context.Context) error {
	key := s.prefix + unfinished + rand.Text()
	put := func(text string, was objects.Version) (objects.Version, error) {
		return s.bucket.Put(ctx, key, []byte(text), was)
	}
	first, err := put("first", objects.None)
	switch {
	case errors.Is(err, objects.ErrDenied):
		return s.readable(ctx, key, err)
	case errors.Is(err, errors.ErrUnsupported):
		return errNoConditions
	case err != nil:
		return err
	}
	defer func() { _ = s.bucket.Delete(ctx, key, objects.Any) }() // what is left goes with the next collection
	if err := refused(put("again", objects.None)); err != nil {
		return err
	}
	second, err := put("second", first)
	if errors.Is(err, objects.ErrChanged) {
		return errors.New("the store refuses writes whose condition holds (If-Match): use another, or a folder")
	}
	if err != nil {
		return err
	}
	if err := refused(put("third", first)); err != nil {
		return err
	}
	raw, version, err := s.bucket.Get(ctx, key, MaxDocument)
	if err == nil && (string(raw) != "second" || version != second) {
		err = errors.New("the store does not return what was written: use another, or a folder")
	}
	if err != nil {
		return err
	}
	s.exact = errors.Is(s.bucket.Delete(ctx, key, first), objects.ErrChanged)
	return nil
}

// refused wants a write whose condition does not hold to have been refused.
func refused(_ objects.Version, err error) error {
	switch {
	case err == nil:
		return errNoConditions
	case errors.Is(err, objects.ErrChanged):
		return nil
	}
	return err
}

// readable tells what a state is that may not be written to.
func (s *S3) readable(ctx context.Context, key string, denied error) error {
	if _, _, err := s.bucket.Get(ctx, key, 1); err != nil && !errors.Is(err, objects.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrReadOnly, denied)
}
