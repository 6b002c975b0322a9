package deploy

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// label returns the kind and the name of an object with its namespace: its key is cluster/namespace/Kind.group/name.
func label(k reconcile.Key, of any) (kind, name string) {
	words := strings.Split(string(k), "/")
	if b, ok := of.(body); ok && b.Object == nil || len(words) < 3 {
		return "", ""
	}
	last := len(words) - 1
	return words[last-1], words[last-2] + "/" + words[last]
}

// alters returns how the objects of two entries differ. Both have names in place of the values of secrets, and the
// places of these values are not shown.
func alters(base, head reconcile.Item) (changes []reconcile.Change, isKnown bool) {
	was, isBody := base.Body.(body)
	now, isToo := head.Body.(body)
	if !isBody || !isToo || was.Named == nil || now.Named == nil {
		return nil, false
	}
	return manifests.Between(was.Named, now.Named, slices.Concat(was.Masked, now.Masked)), !was.Always && !now.Always
}

// sets returns the values of an object that is created, without those of secrets.
func sets(it reconcile.Item) []reconcile.Change {
	now, ok := it.Body.(body)
	if !ok || now.Named == nil {
		return nil
	}
	return manifests.Between(manifests.Emptied(now.Named), now.Named, now.Masked)
}
