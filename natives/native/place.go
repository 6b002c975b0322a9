package native

import (
	"cmp"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// inHead returns items of base with the places that are left of theirs in head. An entry that
// head removes from a list is shown at the list: at its index is another entry now.
func inHead(items []reconcile.Item) []reconcile.Item {
	var out []reconcile.Item
	for _, it := range items {
		pointer := ""
		for _, part := range jsonpointer.Split(it.Place.Pointer) {
			if part != "" && strings.Trim(part, "0123456789") == "" {
				break
			}
			pointer = jsonpointer.Append(pointer, part)
		}
		it.Place.Pointer = pointer
		out = append(out, it)
	}
	return out
}

// comparePlaces orders parts by shard, caller and At.
func comparePlaces(a, b Part) int {
	return cmp.Or(strings.Compare(a.Shard, b.Shard), strings.Compare(a.Caller, b.Caller), strings.Compare(a.At, b.At))
}

// atSuffix returns At of a part for a message.
func atSuffix(p Part) string {
	if p.At == "" {
		return ""
	}
	return " at " + p.At
}
