package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/integration/manifests"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/reconcile"
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
	d, err := manifests.Diff(b.Object, l.Live, b.options(l.options, r.writes))
	if b.isUnnamed(l.Live) && !r.writes {
		d.Changes = slices.DeleteFunc(d.Changes, func(c reconcile.Change) bool { return slices.Contains(notes, c.Path) })
	}
	if r.hasSecrets(want.Key, b, l.Live) {
		for i := range d.Changes {
			d.Changes[i] = b.masked(d.Changes[i])
		}
	}
	if d.Mistake != (reconcile.Mistake{}) && r.hasSecrets(want.Key, b, l.Live) && d.Mistake.Code == manifests.CodeConflict {
		d.Mistake.Message = "other field managers own fields with other values, which are not shown because the object holds values of secrets"
	}
	if r.writes && b.Always && err == nil && len(d.Changes) == 0 && d.Mistake == (reconcile.Mistake{}) {
		d.Changes = []reconcile.Change{{New: "applied without a comparison, as compare: false says"}}
	}
	return d, err
}

// notes are the places of the annotations by which an object with secrets is compared.
var notes = []string{"/metadata/annotations/" + jsonpointer.Escape(manifests.DigestAnnotation), "/metadata/annotations/" + jsonpointer.Escape(manifests.SecretsAnnotation)}

// isUnnamed reports whether a live object does not say which secrets it has: somebody else made it, or
// prcheck before it noted them.
func (b body) isUnnamed(l *manifests.Live) bool { return len(b.Masked) > 0 && l.Secrets() == "" }

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
	return b.Secrets || r.hadSecrets[key]
}

// masked returns a change of an object with secrets as it is told. Nobody knows which of the values that are
// there are those of secrets, so none is told, and no name of a place that the entry does not have.
func (b body) masked(c reconcile.Change) reconcile.Change {
	out := reconcile.Change{Path: b.told(c.Path), Old: mask(c.Old), New: c.New}
	if out.Path != c.Path || touches(c.Path, b.Masked) || c.Path == notes[0] { // an old digest is of values
		out.New = mask(c.New)
	}
	return out
}

// told returns a place, or the one above it that the entry has and that is no masked one's part.
func (b body) told(path string) string {
	if path == "" || slices.Contains(notes, path) || strings.HasPrefix(path, "/metadata/managedFields") {
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
