package promotions

import (
	"context"
	"slices"
	"time"

	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// When the checks of several targets fail together, nobody knows which target is to blame. So each half of them
// gets a merge request of its own, and each half that fails is divided again, until the one that fails is alone.
// The others need not wait for it. A part ends when nothing of it is to be promoted any more.

// divide takes the targets out of a component that have merge requests of their own, and returns it with its parts.
func (w *work) divide(c *component) []*component {
	all := []*component{c}
	for _, keys := range w.remembered[c.branch].Parts {
		if part := c.part(keys); len(part.subscribers) > 0 {
			all = append(all, part)
		}
	}
	return all
}

// part takes targets out of a component, and returns them as a part of the whole.
func (c *component) part(keys []string) *component {
	whole := c
	if c.whole != nil {
		whole = c.whole
	}
	part := &component{branch: promotion.Branch(slices.Concat(c.files, keys)), files: c.files, whole: whole}
	var left []*subscriber
	for _, s := range c.subscribers {
		if slices.Contains(keys, s.key) {
			part.subscribers = append(part.subscribers, s)
		} else {
			left = append(left, s)
		}
	}
	c.subscribers = left
	return part
}

// halve divides a component whose checks failed: its halves go on in merge requests of their own, and then its own
// is closed. What was not part of the failure stays with the whole.
func (w *work) halve(ctx context.Context, c *component, halves [][]entry) []error {
	whole := c
	if c.whole != nil {
		whole = c.whole
	}
	was, of := w.remembered[c.branch], w.remembered[whole.branch]
	of.Parts = slices.DeleteFunc(slices.Clone(of.Parts), func(keys []string) bool {
		return c.whole != nil && isPart(c, keys)
	})
	var parts []*component
	for _, half := range halves {
		var keys []string
		for _, e := range half {
			keys = append(keys, e.key)
		}
		of.Parts = append(of.Parts, keys)
		part := c.part(keys)
		parts = append(parts, part)
		if err := w.remember(ctx, part.branch, was.ofPart(w.settings, part)); err != nil {
			return []error{err}
		}
	}
	if err := w.remember(ctx, whole.branch, of); err != nil {
		return []error{err}
	}
	w.components = append(w.components, parts...)
	var errs []error
	for _, part := range parts {
		errs = append(errs, w.keepComponent(ctx, part, false)...)
	}
	if c != whole {
		whole.subscribers, c.subscribers = append(whole.subscribers, c.subscribers...), nil
	}
	errs = append(errs, w.keepComponent(ctx, c, true)...)
	delete(w.open, c.branch) // so what is left of it is not told to be in an open merge request
	return errs
}

// isPart reports whether a component is the part of some keys.
func isPart(c *component, keys []string) bool {
	return c.branch == promotion.Branch(slices.Concat(c.files, keys))
}

// ofPart returns what a part inherits: the windows that were used, what began in them, and what failed.
func (m memory) ofPart(in ownSettings, part *component) memory {
	out := memory{Failed: m.Failed, Through: m.Through, Pending: m.Pending, Since: m.Since}
	for _, e := range m.Begun {
		if slices.ContainsFunc(part.subscribers, func(s *subscriber) bool { return e.isSame(s.entry(in, s.d)) }) {
			out.Begun = append(out.Begun, e)
		}
	}
	return out
}

// join gives the targets of a part back to the whole, which has used the windows that the part used.
func (w *work) join(ctx context.Context, c *component) error {
	of := w.remembered[c.whole.branch]
	of.Parts = slices.DeleteFunc(slices.Clone(of.Parts), func(keys []string) bool { return isPart(c, keys) })
	if len(of.Parts) == 0 {
		of.Parts = nil
	}
	of.Through = latest(of.Through, w.remembered[c.branch].Through)
	if err := w.remember(ctx, c.whole.branch, of); err != nil {
		return err
	}
	return w.remember(ctx, c.branch, memory{})
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
