package selftest

import "context"

// maxShrinks is how many smaller changes are tried to find a small counterexample.
const maxShrinks = 80

// shrink looks for a smaller change that breaks the law as well: it takes away groups of
// changed files, first half of them, at last single ones, as long as the law stays broken.
func (t *tester) shrink(ctx context.Context, l Law, found *Counterexample) *Counterexample {
	kept := changedFiles(t.in.Base, t.in.Head)
	best := *found
	size := (len(kept) + 1) / 2
	for tries := 0; tries < maxShrinks && size > 0 && len(kept) > 0 && ctx.Err() == nil; {
		smaller := false
		for at := 0; at < len(kept) && tries < maxShrinks; {
			end := min(at+size, len(kept))
			rest := append(append([]string{}, kept[:at]...), kept[end:]...)
			tries++
			if c := t.breaks(ctx, l, rest); c != nil {
				kept, best, smaller = rest, *c, true
				continue
			}
			at = end
		}
		if size == 1 && !smaller {
			break
		}
		size = min(max(size/2, 1), max(len(kept), 1))
	}
	best.Changes = append([]string{}, kept...)
	return &best
}

// breaks returns the counterexample that a change of these files alone is, or nil.
func (t *tester) breaks(ctx context.Context, l Law, files []string) *Counterexample {
	head, err := mix(t.in.Base, t.in.Head, files)
	if err != nil {
		return nil
	}
	small := *t
	small.in.Head = head
	f, err := l.check(ctx, &small, small.in.Base, head)
	if err != nil {
		return nil
	}
	return f.broken
}
