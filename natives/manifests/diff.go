package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Diff returns how a live object differs from its manifest, which is adapted to it: in fields
// that the manifest has, in fields that it no longer has, and in field managers whose fields
// are to become ours. It asks nobody.
//
// The difference has a mistake if another manager owns a field, or if a field cannot be changed
// and the options do not allow to replace the object.
func Diff(want Object, is *Live, o Options) (reconcile.Difference, error) {
	found, c, err := differences(want, is, o)
	if err != nil {
		return reconcile.Difference{}, err
	}
	var d reconcile.Difference
	c.judgeImmutable(&d, found)
	if m := c.conflict(found); m != (reconcile.Mistake{}) {
		d.Mistake = m
	}
	for _, f := range found {
		d.Changes = append(d.Changes, f.change())
	}
	slices.SortStableFunc(d.Changes, func(a, b reconcile.Change) int { return cmp.Compare(a.Path, b.Path) })
	if left := len(d.Changes) - maxChanges; left > 0 {
		d.Changes = append(d.Changes[:maxChanges:maxChanges],
			reconcile.Change{Path: "", New: fmt.Sprintf("and %d more", left)})
	}
	d.Changes = append(d.Changes, c.noteChanges(len(found) > 0)...)
	return d, c.err
}

// differences returns all values that differ.
func differences(want Object, is *Live, o Options) ([]difference, *comparison, error) {
	if is == nil {
		return nil, nil, fmt.Errorf("there is no object to compare with")
	}
	if kind, name := text(want["kind"]), text(at(want, "metadata", "name")); kind != is.Kind.Name || name != is.Name {
		return nil, nil, fmt.Errorf("%.40s %.100q cannot be compared with %s %.100q", kind, name, is.Kind, is.Name)
	}
	want = Adapt(want, is, o)
	c := &comparison{want: want, digest: o.digest(want), live: is, options: o}
	c.compare(nil, want, is.Object)
	if is.Digest() != c.digest || len(c.taken()) > 0 {
		c.found = append(c.found, c.removed()...)
	}
	c.found = slices.DeleteFunc(c.found, func(f difference) bool { return o.isUnknown(f.at) })
	return c.found, c, c.err
}

// noteChanges returns the changes of what the object says about its manifest: its digest, if
// nothing else explains the write, the managers whose fields are to become ours, and fields that
// are to become ours again.
func (c *comparison) noteChanges(isExplained bool) []reconcile.Change {
	var out []reconcile.Change
	taken := c.taken()
	if len(taken) > 0 {
		out = append(out, reconcile.Change{Path: "/metadata/managedFields",
			Old: phrase.Cut("updated by "+strings.Join(taken, ", "), maxShown),
			New: phrase.Cut("applied by "+c.options.Manager, maxShown)})
	}
	if old := c.live.Digest(); old != c.digest && !isExplained && len(taken) == 0 {
		p := place{}.member("metadata").member("annotations").member(DigestAnnotation)
		out = append(out, reconcile.Change{Path: p.pointer(), Old: shortDigest(old), New: shortDigest(c.digest)})
	}
	if len(out) == 0 && !isExplained {
		for _, p := range c.lent() {
			out = append(out, reconcile.Change{Path: "/metadata/managedFields", Old: phrase.Cut(p.path().String()+" is not ours",
				maxShown), New: phrase.Cut("applied by "+c.options.Manager, maxShown)})
		}
	}
	return out
}

// shortDigest returns enough of a digest for people.
func shortDigest(digest string) string { return digest[:min(12, len(digest))] }

// overridden returns the differences in fields of managers that are overridden.
func (c *comparison) overridden(found []difference) []difference {
	return slices.DeleteFunc(slices.Clone(found), func(f difference) bool {
		return f.want == nil || f.isOrder || len(c.contenders(f.at)) == 0
	})
}
