package promotions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/schedule"
	"github.com/app-sre/prcheck/state"
)

// The keys of what is remembered.
const (
	targetsKey    = "targets"
	componentsKey = "components"
)

// version is the version of both documents.
const version = 1

// maxFailed is how many contents that failed are remembered of a component.
const maxFailed = 100

// A seen is what is remembered of a target.
type seen struct {
	Ref string `json:"ref"`
	Pin string `json:"pin,omitempty"` // see [promotion.Pin]
	// Last is the newest commit that was newer than Ref, "" for none: it may still wait, though no branch has it.
	Last string `json:"last,omitempty"`
}

// A component's memory. The zero value is nothing.
type memory struct {
	Pushed   string    `json:"pushed,omitempty"`   // our last commit on the branch
	At       time.Time `json:"at,omitzero"`        // when
	Base     string    `json:"base,omitempty"`     // the head of main then
	Content  string    `json:"content,omitempty"`  // digest of what was promoted
	Rendered string    `json:"rendered,omitempty"` // digest of the files
	Number   int       `json:"number,omitempty"`   // of the merge request that was open last
	Opened   time.Time `json:"opened,omitzero"`
	Noted    string    `json:"noted,omitempty"`   // the head that has our note
	Comment  int       `json:"comment,omitempty"` // the last comment that was read
	Failed   []failure `json:"failed,omitempty"`
	Retried  string    `json:"retried,omitempty"` // the content that runs once more, since the settings name it
	// Through is when a loop got through while a window was open. If none did, Pending is when
	// one tried last, and Since from when on windows were not used.
	Through time.Time `json:"through,omitzero"`
	Pending time.Time `json:"pending,omitzero"`
	Since   time.Time `json:"since,omitzero"`
	// Parts are the keys of targets that have merge requests of their own, since checks failed for more of them
	// together. See [component.divide].
	Parts [][]string `json:"parts,omitempty"`
	// Begun are promotions that began in a window and that the data do not have yet.
	Begun []entry `json:"begun,omitempty"`
}

// A window says from when on a window counts as open, see package schedule.
type window struct {
	last time.Time
	gap  time.Duration
}

// A failure is a content whose checks failed.
type failure struct {
	Content string    `json:"content"` // its digest
	At      time.Time `json:"at"`
}

// window returns which windows count for a component. A loop that did not get through used none.
func (m memory) window(now time.Time) window {
	if gap := now.Sub(m.Pending); !m.Pending.IsZero() && gap >= 0 && gap <= schedule.MaxGap {
		return window{last: m.Since, gap: max(now.Sub(m.Since), schedule.MaxGap)}
	}
	return window{last: m.Through, gap: schedule.MaxGap}
}

// used notes whether a loop got through for a component while a window was open.
func (m *memory) used(now time.Time, through bool) {
	if through {
		m.Through, m.Pending, m.Since = now, time.Time{}, time.Time{}
		return
	}
	w := m.window(now)
	m.Since = w.last
	if earliest := now.Add(-w.gap); earliest.After(m.Since) {
		m.Since = earliest
	}
	m.Pending = now
}

// equal reports whether two memories say the same.
func (m memory) equal(o memory) bool {
	a, errA := json.Marshal(m)
	b, errB := json.Marshal(o)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// document is a document of the state.
type document[T any] struct {
	Version int          `json:"version"`
	Of      map[string]T `json:"of"`
}

// parseDocument reads a document. Nothing is an empty one.
func parseDocument[T any](raw []byte) (map[string]T, error) {
	if raw == nil {
		return map[string]T{}, nil
	}
	var d document[T]
	r := json.NewDecoder(bytes.NewReader(raw))
	r.DisallowUnknownFields()
	if err := r.Decode(&d); err != nil {
		return nil, err
	}
	if _, err := r.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the document")
	}
	if d.Version != version {
		return nil, fmt.Errorf("it has version %d, and this program knows version %d", d.Version, version)
	}
	if d.Of == nil {
		d.Of = map[string]T{}
	}
	return d.Of, nil
}

// readDocument reads a document of the state.
func readDocument[T any](ctx context.Context, s state.Store, key string) (map[string]T, error) {
	raw, err := s.Read(ctx, key)
	if errors.Is(err, state.ErrNotFound) {
		raw, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is remembered of %s: %w", key, err)
	}
	out, err := parseDocument[T](raw)
	if err != nil {
		return nil, fmt.Errorf("reading what is remembered of %s: %w; look at the document, and remove it from the state "+
			"if it is lost: then pins and failed checks are forgotten", key, err)
	}
	return out, nil
}

// updateDocument changes a document of the state. If change changes nothing, nothing is written.
func updateDocument[T any](ctx context.Context, s state.Store, key string, change func(of map[string]T)) error {
	err := s.Update(ctx, key, func(old []byte) ([]byte, error) {
		of, err := parseDocument[T](old)
		if err != nil {
			return nil, err
		}
		before, err := json.Marshal(of)
		if err != nil {
			return nil, err
		}
		change(of)
		if after, err := json.Marshal(of); err != nil || bytes.Equal(before, after) {
			return nil, err
		}
		return json.Marshal(document[T]{version, of})
	})
	if err != nil {
		return fmt.Errorf("writing what is remembered of %s: %w", key, err)
	}
	return nil
}

// lookedAt returns what is to be remembered of the targets. What was not asked stays as it is; a
// target that is gone is forgotten.
func lookedAt(was map[string]seen, all []*subscriber) map[string]seen {
	out := map[string]seen{}
	for _, s := range all {
		old, known := was[s.key]
		switch {
		case s.asked:
			out[s.key] = seen{Ref: s.q.Ref, Pin: s.q.Pin, Last: cmp.Or(s.d.Commit, s.lately)}
		case known:
			out[s.key] = old
		}
	}
	return out
}

// rememberTargets writes what is remembered of the targets, if it changed.
func rememberTargets(ctx context.Context, s state.Store, was map[string]seen, all []*subscriber) error {
	now := lookedAt(was, all)
	if maps.Equal(was, now) {
		return nil
	}
	return updateDocument(ctx, s, targetsKey, func(of map[string]seen) {
		clear(of)
		maps.Copy(of, now)
	})
}

// fail notes that the checks of a content failed, if that is not known.
func (m *memory) fail(content string, at time.Time) {
	if _, known := m.failedAt(content); content == "" || known {
		return
	}
	m.Failed = append(slices.Clone(m.Failed), failure{content, at})
	m.Failed = m.Failed[max(0, len(m.Failed)-maxFailed):]
}

// failedAt returns when the checks of a content failed.
func (m *memory) failedAt(content string) (at time.Time, known bool) {
	i := slices.IndexFunc(m.Failed, func(f failure) bool { return f.Content == content })
	if i < 0 {
		return time.Time{}, false
	}
	return m.Failed[i].At, true
}

// forgive forgets that the checks of a content failed.
func (m *memory) forgive(content string) {
	m.Failed = slices.DeleteFunc(slices.Clone(m.Failed), func(f failure) bool { return f.Content == content })
}

// isPromotion reports whether a branch has a name that we give.
func isPromotion(branch string) bool {
	if len(branch) != len(promotion.BranchPrefix)+12 {
		return false
	}
	for _, c := range branch[len(promotion.BranchPrefix):] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return branch[:len(promotion.BranchPrefix)] == promotion.BranchPrefix
}
