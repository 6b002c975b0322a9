package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits are how much is remembered.
type Limits struct {
	Age  time.Duration // what was written before that is forgotten
	Size int64         // bytes; the oldest documents make room
	Keep []string      // folders that nothing is ever forgotten of
}

// DefaultLimits are the limits that prcheck collects by: 90 days and 1 GiB. Nothing
// in the folders to keep is ever forgotten.
func DefaultLimits(keep ...string) Limits {
	return Limits{Age: 90 * 24 * time.Hour, Size: 1 << 30, Keep: keep}
}

// When and how much is collected.
const (
	collectEvery = 24 * time.Hour
	// young documents stay, whatever the size: runs that go on hold them, since
	// no lease lasts for as long, and merge requests that are open need them.
	young    = 24 * time.Hour
	leftover = time.Hour // what a writer did not finish for so long, it will not
	collects = "collection/last.json"
)

type collection struct {
	Version string    `json:"version"`
	At      time.Time `json:"at"`
}

// Collect forgets what is too old, and the oldest of what is too much, and tidies
// up what writers that died left behind; but at most once a day for all that
// use the state, so that it may be called after every run.
//
// It may run beside writers: a document that is written in the meantime stays.
func Collect(ctx context.Context, s Store, limits Limits, now time.Time) error {
	due := false
	k := Kind[collection]{Version: "1", Limit: 1000}
	_, err := k.Update(ctx, s, collects, func(last *collection) {
		since := now.Sub(last.At)
		if due = since >= collectEvery || since < -collectEvery; due {
			last.Version, last.At = k.Version, now.UTC()
		}
	})
	if err == nil && due {
		err = collect(ctx, s, limits, now)
	}
	if err != nil {
		return fmt.Errorf("collecting what is too old: %w", err)
	}
	return nil
}

func collect(ctx context.Context, s Store, limits Limits, now time.Time) error {
	list, err := s.List(ctx, "")
	if err != nil {
		return err
	}
	var size int64
	for _, e := range list {
		size += e.Size
	}
	var errs []error
	for _, e := range slices.Backward(list) {
		age := now.Sub(e.Written)
		if age < young || age < limits.Age && size <= limits.Size {
			break // all others are newer
		}
		if slices.ContainsFunc(limits.Keep, func(folder string) bool { return strings.HasPrefix(e.Key, folder+"/") }) {
			continue
		}
		if err := s.Discard(ctx, e); err != nil {
			errs = append(errs, err)
			if len(errs) > 2 {
				break // and so on
			}
			continue
		}
		size -= e.Size
	}
	if t, ok := s.(interface {
		tidy(ctx context.Context, before time.Time) error
	}); ok {
		errs = append(errs, t.tidy(ctx, now.Add(-leftover)))
	}
	return errors.Join(errs...)
}
