package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/reconcile"
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
		d.Changes = append(d.Changes[:maxChanges:maxChanges], reconcile.Change{Path: "", New: fmt.Sprintf("and %d more", left)})
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
// nothing else explains the write, and the managers whose fields are to become ours.
func (c *comparison) noteChanges(isExplained bool) []reconcile.Change {
	var out []reconcile.Change
	taken := c.taken()
	if len(taken) > 0 {
		out = append(out, reconcile.Change{Path: "/metadata/managedFields", Old: cut("updated by " + strings.Join(taken, ", ")),
			New: cut("applied by " + c.options.Manager)})
	}
	if old := c.live.Digest(); old != c.digest && !isExplained && len(taken) == 0 {
		p := place{}.member("metadata").member("annotations").member(DigestAnnotation)
		out = append(out, reconcile.Change{Path: p.pointer(), Old: shortDigest(old), New: shortDigest(c.digest)})
	}
	return out
}

// shortDigest returns enough of a digest for people.
func shortDigest(digest string) string { return digest[:min(12, len(digest))] }

// maxNamed is how many fields a message names.
const maxNamed = 5

// conflict returns the mistake that other managers own fields which differ.
func (c *comparison) conflict(found []difference) reconcile.Mistake {
	var fields []string
	left := 0
	for _, f := range found {
		if f.want == nil {
			continue // an apply leaves to others what it no longer sets
		}
		by := slices.DeleteFunc(c.contenders(f.at), func(manager string) bool {
			return slices.Contains(c.options.Override, manager) || c.isShared(f.at)
		})
		switch {
		case len(by) == 0:
		case len(fields) == maxNamed:
			left++
		default:
			change := f.change()
			fields = append(fields, fmt.Sprintf("%s owns %s (%s there, %s wanted)", cut(strings.Join(by, ", ")), cut(f.at.path().String()),
				cmp.Or(change.Old, `""`), cmp.Or(change.New, `""`)))
		}
	}
	if len(fields) == 0 {
		return reconcile.Mistake{}
	}
	message := strings.Join(fields, "; ")
	if left > 0 {
		message += fmt.Sprintf("; and %d more fields", left)
	}
	return reconcile.Mistake{Code: CodeConflict, Message: message + ": undo that change, or let the settings override this manager"}
}

// overridden returns the differences in fields of managers that are overridden.
func (c *comparison) overridden(found []difference) []difference {
	return slices.DeleteFunc(slices.Clone(found), func(f difference) bool {
		return f.want == nil || len(c.contenders(f.at)) == 0
	})
}
