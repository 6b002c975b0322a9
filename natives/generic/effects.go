package generic

import (
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/check"
	"github.com/app-sre/prcheck/natives/generic/rest"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// label returns the type and the name of a resource.
func label(k reconcile.Key, of any) (kind, name string) {
	e, ok := of.(*entry)
	if !ok || e.of.TypeID() == "" {
		return "", string(k[strings.LastIndexByte(string(k), '/')+1:])
	}
	kind, _, _ = strings.Cut(e.of.TypeID(), "@") // the version of the API says nothing about the thing
	return kind, e.of.Address.Name
}

// placesOf returns the places in an entry that lead to changes of its resource, or to its deletion.
func placesOf(it reconcile.Item, changes []reconcile.Change) []string {
	if it.Delete {
		return []string{"/delete"}
	}
	e, ok := it.Body.(*entry)
	if !ok {
		return []string{""}
	}
	var out []string
	for _, c := range changes {
		out = append(out, check.Place(e.of, e.rules, c.Path))
	}
	return out
}

// keyOfData makes the hashes of values where no value of a secret is known.
var keyOfData = []byte("the data have no value of a secret")

// alters returns what the data alone say that head's entry changes of the resource of base's entry, by the plan of a
// dry run: base stands for what was applied and for what is there. The service answers no secrets.
func alters(base, head reconcile.Item) (changes []reconcile.Change, isKnown bool) {
	was, isEntry := base.Body.(*entry)
	now, isToo := head.Body.(*entry)
	if !isEntry || !isToo || was.rules == nil || now.rules == nil || now.family == nil {
		return nil, false
	}
	was, now = was.unfilled(), now.unfilled()
	before, known, err := was.wanted()
	if err != nil {
		return nil, false
	}
	wanted, knownNow, err := now.wanted()
	if err != nil {
		return nil, false
	}
	in := now.input(wanted, knownNow, threeway.Remember(before, known, keyOfData), true,
		found{live: rest.Live{Found: true, Body: was.desired}}, keyOfData)
	in.Children = nil
	return changesOf(threeway.Make(in)), was.isRuledAs(now)
}

// isRuledAs reports whether both entries compare their resource by the same rules and words. If they do not, what base
// left alone may be changed now.
func (e *entry) isRuledAs(other *entry) bool {
	a, b := e.of, other.of
	return a.Digest == b.Digest && a.Adopt == b.Adopt && strings.EqualFold(a.TypeID(), b.TypeID()) &&
		slices.Equal(a.Ignore, b.Ignore) && slices.Equal(a.Exclusive, b.Exclusive) &&
		slices.Equal(a.AllowUpdate, b.AllowUpdate) && slices.Equal(a.Hooks, b.Hooks) &&
		a.OnSoftDeleted == b.OnSoftDeleted
}

// unfilled returns a copy of an entry of which no secret is known that has no version.
func (e *entry) unfilled() *entry {
	out := *e
	out.secrets, out.unknown = nil, nil
	for _, s := range e.of.Secrets {
		if s.Secret.Version != "" {
			continue
		}
		for _, at := range rules.Places(e.rules, e.desired, s.At) {
			out.unknown = append(out.unknown, at.Name)
		}
	}
	return &out
}

// sets returns the values of a resource that is created, and the places of its secrets.
func sets(it reconcile.Item) []reconcile.Change {
	e, ok := it.Body.(*entry)
	if !ok || e.rules == nil {
		return nil
	}
	out := leavesOf("", rules.Mask(e.rules, "", "", e.desired))
	for _, s := range e.of.Secrets {
		out = append(out, reconcile.Change{Path: s.At, Secret: true})
	}
	slices.SortStableFunc(out, func(a, b reconcile.Change) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(out, func(a, b reconcile.Change) bool { return a.Path == b.Path })
}

// leavesOf returns the values of a body that hold no others. A list is one value.
func leavesOf(path string, v any) (out []reconcile.Change) {
	members, isObject := v.(map[string]any)
	if !isObject || len(members) == 0 {
		if v == nil || path == "" {
			return nil
		}
		return []reconcile.Change{{Path: path, New: show(v), To: asJSON(v), Secret: hides(v)}}
	}
	for name, member := range members {
		out = append(out, leavesOf(jsonpointer.Append(path, name), member)...)
	}
	return out
}

// hides reports whether a masked value stands for a secret, or has one in it.
func hides(v any) bool {
	switch v := v.(type) {
	case string:
		return v == rules.Hidden
	case []any:
		return slices.ContainsFunc(v, hides)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), hides)
	}
	return false
}
