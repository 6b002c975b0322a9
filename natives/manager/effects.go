package manager

import (
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// label returns the kind and the name of an object: its key is cluster/namespace/Kind/name.
func label(k reconcile.Key, _ any) (kind, name string) {
	words := strings.Split(string(k), "/")
	if len(words) < 2 {
		return "", string(k)
	}
	return words[len(words)-2], words[len(words)-1]
}

// notKnownYet is the reason of a change to a value that only services know, such as the commit of a branch.
const notKnownYet = "known when it runs"

// alters returns how the objects of two entries differ. Values that are open are not shown.
func alters(base, head reconcile.Item) (changes []reconcile.Change, isKnown bool) {
	was, isBody := base.Body.(body)
	now, isToo := head.Body.(body)
	if !isBody || !isToo || was.Object == nil || now.Object == nil {
		return nil, false
	}
	changes = manifests.Between(was.Object, now.Object, nil)
	isOpen := len(was.Late)+len(now.Late) > 0
	for i, c := range changes {
		if isOpen && strings.Contains(c.Old+string(c.From)+c.New+string(c.To), latePrefix) {
			changes[i] = reconcile.Change{Path: c.Path, Reason: notKnownYet}
		}
	}
	if len(changes) == 0 && isOpen && !maps.Equal(was.Late, now.Late) {
		for _, name := range slices.Sorted(maps.Keys(now.Late)) {
			if was.Late[name] != now.Late[name] {
				changes = append(changes, reconcile.Change{Path: "/parameters/" + name, Reason: notKnownYet})
			}
		}
	}
	return changes, true
}

// sets returns the values of an object that is created.
func sets(it reconcile.Item) []reconcile.Change {
	now, ok := it.Body.(body)
	if !ok {
		return nil
	}
	changes, _ := alters(reconcile.Item{Key: it.Key, Body: body{Object: manifests.Emptied(now.Object)}}, it)
	return changes
}
