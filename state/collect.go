package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits say how much is remembered.
type Limits struct {
	Age  time.Duration // documents that were written longer ago are removed
	Size int64         // in bytes; if the state is larger, the oldest documents are removed
	Keep []string      // folders whose documents are never removed, beside [Natives]
}

// DefaultLimits are the limits that prcheck collects by: 90 days and 1 GiB. Nothing
// in the folders to keep is ever forgotten.
func DefaultLimits(keep ...string) Limits {
	return Limits{Age: 90 * 24 * time.Hour, Size: 1 << 30, Keep: keep}
}

// keeps reports whether a document is never removed.
func (l Limits) keeps(key string) bool {
	for _, folder := range append([]string{Natives}, l.Keep...) {
		if strings.HasPrefix(key, folder+"/") {
			return true
		}
	}
	return false
}

const (
	collectEvery = 24 * time.Hour
	// minAge is the age up to which documents stay, however large the state is. A lease
	// ends much sooner, so no lease is collected while somebody holds it; and open merge
	// requests need young documents.
	minAge = 24 * time.Hour
	// unfinishedAge is the age from which an unfinished file is that of a dead writer.
	unfinishedAge = time.Hour
	collectionKey = "collection/last.json"
)

// A collection is the document that says when documents were collected last.
type collection struct {
	Version string    `json:"version"`
	At      time.Time `json:"at"`
}

// Collect removes documents that exceed the limits, and the unfinished files of writers
// that died. It does so at most once a day, over all processes that use the state, so it
// can be called after every run.
//
// Others may write at the same time: a document that is written in the meantime stays.
func Collect(ctx context.Context, s Store, limits Limits, now time.Time) error {
	due := false
	k := Kind[collection]{Version: "1"}
	_, err := k.Update(ctx, s, collectionKey, func(last *collection) {
		since := now.Sub(last.At)
		if due = since >= collectEvery || since < -collectEvery; due {
			last.Version, last.At = k.Version, now.UTC()
		}
	})
	if err == nil && due {
		err = collect(ctx, s, limits, now)
	}
	if err != nil {
		return fmt.Errorf("removing old documents: %w", err)
	}
	return nil
}

// A tidier can remove what writers left that died before a time.
type tidier interface {
	tidy(ctx context.Context, before time.Time) error
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
		if age < minAge || age < limits.Age && size <= limits.Size {
			break // the documents that follow are newer
		}
		if limits.keeps(e.Key) {
			continue
		}
		if err := s.Discard(ctx, e); err != nil {
			errs = append(errs, err)
			if len(errs) > 2 {
				break // the others would fail alike
			}
			continue
		}
		size -= e.Size
	}
	if t, ok := s.(tidier); ok {
		errs = append(errs, t.tidy(ctx, now.Add(-unfinishedAge)))
	}
	return errors.Join(errs...)
}
