package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// hidden stands for values of secrets.
const hidden = "***"

// compare returns how an object differs from its entry. Values of secrets are not shown. In a run,
// an object that is not to be compared always differs.
func (r *run) compare(want reconcile.Item, is reconcile.Thing, _ reconcile.Record) (reconcile.Difference, error) {
	b, ok := want.Body.(body)
	l, isThere := is.Body.(live)
	if !ok || !isThere {
		return reconcile.Difference{}, fmt.Errorf("got a body of type %T and %T", want.Body, is.Body)
	}
	d, err := r.differences(want.Key, b, l)
	if d.Mistake != (reconcile.Mistake{}) && r.hasSecrets(want.Key, b, l.Live) &&
		d.Mistake.Code == manifests.CodeConflict {
		d.Mistake.Message = "somebody else changed fields or owns them with other values, which are not shown because the " +
			"object holds values of secrets"
	}
	if r.writes && b.Always && err == nil && len(d.Changes) == 0 && d.Mistake == (reconcile.Mistake{}) {
		d.Changes = []reconcile.Change{{New: "applied without a comparison, as compare: false says"}}
	}
	return d, err
}

// differences returns how an object differs. Of one with secrets a dry run knows where its values are only if
// the manifest that was applied last is that of a side: then it is compared with that side.
func (r *run) differences(key reconcile.Key, b body, l live) (reconcile.Difference, error) {
	d, err := manifests.Diff(b.Object, l.Live, b.options(l.options, r.writes))
	of, why := r.applied(key, b, l.Live)
	if err != nil {
		return d, err
	}
	if isOther := why != "" || of.digest() != b.digest(); isOther && d.Mistake.Code == manifests.CodeConflict {
		d.Mistake = reconcile.Mistake{} // it would tell whether a text of head is the value that is there
	}
	switch {
	case why != "" && l.Secrets() == "":
		d.Changes = nil
	case why != "":
		d.Changes = []reconcile.Change{anotherManifest}
	case of.digest() != b.digest():
		drift, err := manifests.Diff(of.Object, l.Live, of.options(l.options, r.writes))
		if err != nil {
			return d, err
		}
		d.Changes = append(slices.Clone(drift.Changes), anotherManifest)
	}
	hasSecrets := r.hasSecrets(key, b, l.Live)
	for i, c := range d.Changes {
		if c.Path == anotherManifest.Path { // the digest of an older prcheck is that of a manifest with values
			d.Changes[i] = anotherManifest
		} else if hasSecrets {
			d.Changes[i] = of.masked(c, r.writes)
		}
	}
	return d, nil
}

// applied returns the entry with the manifest that was applied last: that of head or of base. It says why it is
// not known where an object has values of secrets, "" if it is, or if there are none.
func (r *run) applied(key reconcile.Key, b body, l *manifests.Live) (of body, why string) {
	said := l.Secrets()
	if r.writes || said == noSecrets || !r.hasSecrets(key, b, l) || said != "" && l.Digest() == b.digest() {
		return b, ""
	}
	r.mu.Lock()
	base, isThere := r.before[key]
	r.mu.Unlock()
	switch {
	case said == "":
		return b, "it does not say which secrets it has, so it was not compared"
	case isThere && l.Digest() == base.digest():
		return base, ""
	}
	return b, "another manifest with secrets was applied last, so it was not compared"
}

// anotherManifest is the change of an object to which another manifest was applied last.
var anotherManifest = reconcile.Change{Path: "/metadata/annotations/" + jsonpointer.Escape(manifests.DigestAnnotation),
	Old: "of another manifest", New: "of this manifest"}

// mask hides a value that is there.
func mask(value string) string {
	if value == "" {
		return ""
	}
	return hidden
}

// hasSecrets reports whether an object may have values of secrets: by its entry, by what it says, or, if it
// says nothing, by its target on either side.
func (r *run) hasSecrets(key reconcile.Key, b body, l *manifests.Live) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch said := l.Secrets(); {
	case len(b.Masked) > 0:
		return true
	case said != "":
		return said != noSecrets
	}
	return b.Secrets || r.before[key].Secrets
}

// masked returns a change of an object with secrets as it is told. A run does not know which of the values that
// are there are those of secrets, so it tells none, and no name of a place that the entry does not have.
func (b body) masked(c reconcile.Change, writes bool) reconcile.Change {
	out := reconcile.Change{Path: b.told(c.Path), Old: c.Old, New: c.New} // neither names of items nor values as JSON
	isSecret := out.Path != c.Path || touches(c.Path, b.Masked)
	if writes || isSecret || isBeside(c.Path, b.Masked) {
		out.Old = hidden
	}
	if isSecret {
		out.New = mask(c.New)
	}
	return out
}

// told returns a place, or the one above it that the entry has and that is no masked one's part.
func (b body) told(path string) string {
	if path == "" || strings.HasPrefix(path, "/metadata/managedFields") {
		return path
	}
	at, in := "", any(map[string]any(b.Object))
	for _, part := range jsonpointer.Split(path) {
		next, isThere := itemAt(in, part)
		if !isThere {
			break
		}
		at, in = jsonpointer.Append(at, part), next
	}
	return above(at, b.Masked)
}

// itemAt returns a member of an object, or an item of a list.
func itemAt(of any, part string) (any, bool) {
	switch of := of.(type) {
	case map[string]any:
		v, ok := of[part]
		return v, ok
	case []any:
		if i, err := strconv.Atoi(part); err == nil && 0 <= i && i < len(of) {
			return of[i], true
		}
	}
	return nil, false
}

// touches reports whether a place is at, below or above one of the masked places.
func touches(path string, masked []string) bool {
	for _, m := range masked {
		if path == m || strings.HasPrefix(path, m+"/") || strings.HasPrefix(m, path+"/") {
			return true
		}
	}
	return false
}

// isBeside reports whether a place is in a list in which a masked one is, too: somebody may have moved its items.
func isBeside(path string, masked []string) bool {
	is := jsonpointer.Split(path)
	return slices.ContainsFunc(masked, func(m string) bool {
		for i, part := range jsonpointer.Split(m) {
			if i == len(is) {
				return false
			}
			if part != is[i] {
				_, notOurs := strconv.Atoi(part)
				_, notIs := strconv.Atoi(is[i])
				return notOurs == nil && notIs == nil
			}
		}
		return false
	})
}

// above returns the masked place that a place is below, since the names on the way may be those
// of secrets, or the place itself.
func above(path string, masked []string) string {
	for _, m := range masked {
		if strings.HasPrefix(path, m+"/") {
			return m
		}
	}
	return path
}
