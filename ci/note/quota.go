package note

import (
	"sort"
	"unicode/utf8"
)

// The kinds of lines of a note that can be left out, the first to be left out
// first.
const (
	skippedRows  = iota // integrations that were skipped
	ranRows             // tasks that ran
	sinceRows           // integrations that are checked now and were not before, or the reverse
	otherEffects        // effects that are no deletions
	tailLines           // last lines of each failure
	otherRows           // failures with the same cause as a shown one, or beyond the last shown one
	whyLines            // lines that say why a failed task was checked
	fixedNames          // tasks that are fixed
	summaries           // summaries of folds without rows
	gapLines            // tasks whose effects are not known, and the like
	findingRows         // findings of natives
	deletionRows        // effects that are deletions
	entries             // failures
	warnings            // warnings
	actions             // what the author must do
	footers             // links, and the summary of the change
	quotaKinds
)

// A quota holds how many lines of each kind may be shown.
type quota [quotaKinds]int

// take returns how many of n lines of a kind may be shown, and subtracts them from
// the quota.
func (q *quota) take(kind, n int) int {
	n = min(n, q[kind])
	q[kind] -= n
	return n
}

// fullQuota returns the quota that leaves out nothing.
func (c *content) fullQuota() quota {
	q := quota{
		ranRows: len(c.ran.rows), sinceRows: len(c.since.rows), fixedNames: min(len(c.fixed), maxFixed),
		otherEffects: len(c.effects.others.rows), gapLines: len(c.effects.gaps), deletionRows: len(c.effects.deletions),
		findingRows: len(c.findings.rows), summaries: 1, warnings: len(c.warnings), actions: 1, footers: 1,
	}
	for _, f := range c.skipped {
		q[skippedRows] += len(f.rows)
	}
	for _, s := range c.sections {
		q[entries] += len(s.entries)
		q[otherRows] += len(s.others)
		for _, e := range s.entries {
			q[whyLines] += len(e.why)
			q[findingRows] += len(e.findings)
			q[tailLines] = max(q[tailLines], len(e.tail))
		}
	}
	return q
}

// renderWithin returns a first line and below it as much of the content as fits
// into limit characters, and whether even the least of it fits. It empties the
// quota of one kind after the other until the rest fits, and then gives back to the
// last kind as many lines as there is room for.
func (c *content) renderWithin(first string, limit int) (string, bool) {
	render := func(q quota) (string, bool) {
		body := first + "\n" + c.render(q)
		return body, utf8.RuneCountInString(body) <= limit
	}
	q := c.fullQuota()
	body, ok := render(q)
	for kind := 0; kind < quotaKinds && !ok; kind++ {
		full := q[kind]
		if q[kind] = 0; full == 0 {
			continue
		}
		if body, ok = render(q); ok {
			q[kind] = sort.Search(full, func(n int) bool {
				larger := q
				larger[kind] = n + 1
				_, fits := render(larger)
				return !fits
			})
			body, ok = render(q)
		}
	}
	return body, ok
}
