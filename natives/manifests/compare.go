package manifests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// A difference is a value of the manifest that the live object does not have, or a value that
// the manifest no longer has.
type difference struct {
	at       place
	want, is any  // nil if there is none
	isOrder  bool // the items of a list stand in another order
}

// maxDepth is how deep objects are compared part by part. Below that they are one value.
const maxDepth = 60

// A comparison compares a manifest with a live object.
type comparison struct {
	want    Object // adapted to the live object
	digest  string // of the manifest
	live    *Live
	options Options
	found   []difference
	err     error
}

// isAddress reports whether a place names the object, or is written by the server alone.
func isAddress(p place) bool {
	switch p.name(0) {
	case "apiVersion", "kind", "status":
		return len(p) == 1
	case "metadata":
		switch p.name(1) {
		case "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields":
			return len(p) == 2
		}
	}
	return false
}

// compare compares the values at a place. A value that is not there is nil.
func (c *comparison) compare(p place, want, is any) {
	if isAddress(p) || len(p) == 3 && p.name(0) == "metadata" && isNoted(p.name(2)) {
		return
	}
	if len(p) > maxDepth {
		if canonical(want) != canonical(is) {
			c.add(p, want, is)
		}
		return
	}
	switch w := want.(type) {
	case nil:
	case map[string]any:
		c.compareObjects(p, w, is)
	case []any:
		c.compareLists(p, w, is)
	default:
		if !c.sameScalar(p, want, is) {
			c.add(p, want, is)
		}
	}
}

func (c *comparison) add(p place, want, is any) {
	c.found = append(c.found, difference{at: p, want: want, is: is})
}

// compareObjects compares the members of the manifest.
func (c *comparison) compareObjects(p place, want map[string]any, is any) {
	members, ok := is.(map[string]any)
	switch {
	case !ok && is == nil && len(want) == 0 && !isChoice(p):
		return
	case !ok && len(p) > 0:
		c.add(p, want, is)
		return
	}
	if isExact(p) && !c.isForeign() {
		for name := range members {
			if _, wanted := want[name]; !wanted {
				c.add(p, want, is)
				return
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c.compare(p.member(name), want[name], members[name])
	}
}

// compareLists compares the items of the manifest: those with keys by their keys.
func (c *comparison) compareLists(p place, want []any, is any) {
	items, ok := is.([]any)
	if !ok {
		if len(want) > 0 || is != nil {
			c.add(p, want, is)
		}
		return
	}
	if c.isShared(p) {
		if !hasAll(items, want) {
			c.add(p, want, is)
		}
		return
	}
	members, isOfTexts := c.keysOf(p, want)
	if isOfTexts {
		for i, item := range want {
			if !slices.ContainsFunc(items, func(v any) bool { return reflect.DeepEqual(v, item) }) {
				c.add(p.inList(segment{index: i, item: item}), item, nil)
			}
		}
		return
	}
	if members == nil && len(want) != len(items) {
		c.add(p, want, is)
		return
	}
	var found []int // indexes of the items of the manifest
	for i, item := range want {
		if members == nil {
			c.compare(p.inList(segment{index: i}), item, items[i])
			continue
		}
		keys := keysIn(members, item)
		if keys == nil {
			c.add(p.inList(segment{index: i}), item, nil) // the server refuses it, and says why
			continue
		}
		is, at := findItem(items, keys)
		c.compare(p.inList(segment{index: i, keys: keys}), item, is)
		if at >= 0 {
			found = append(found, at)
		}
	}
	if isSequence(p.last()) && !slices.IsSorted(found) {
		c.found = append(c.found, difference{at: p, want: namesOf(want), is: namesOf(items), isOrder: true})
	}
}

// namesOf returns the names of the items of a list, in their order.
func namesOf(items []any) []any {
	var out []any
	for _, item := range items {
		out = append(out, at(item, "name"))
	}
	return out
}

// sameScalar reports whether a text, number or truth value is the same.
func (c *comparison) sameScalar(p place, want, is any) bool {
	if is == nil {
		return isEmpty(want) && (isValueOfVariable(p) || c.isOurs(p))
	}
	switch is.(type) {
	case map[string]any, []any:
		return false
	}
	if isQuantity(p) {
		return equalQuantities(fmt.Sprint(want), fmt.Sprint(is))
	}
	switch want.(type) {
	case string, bool, json.Number, int, int32, int64, float64:
		return plain(want) == plain(is)
	}
	return canonical(want) == canonical(is) // no value of decoded JSON
}

// isEmpty reports whether a server may drop a value.
func isEmpty(v any) bool {
	switch v := plain(v).(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	}
	return false
}

// isValueOfVariable reports whether a place is the value of an environment variable: no value
// is an empty one.
func isValueOfVariable(p place) bool {
	n := len(p)
	return n > 2 && p[n-1].name == "value" && p[n-3].name == "env"
}

// canonical returns a value as JSON with sorted members.
func canonical(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v", v) // no value of JSON; it differs from every such value
	}
	return string(raw)
}

// maxNamed is how many fields a message names.
const maxNamed = 5

// conflict returns the mistake that somebody else changed fields which differ: another manager owns
// them, or they were ours and are it no more.
func (c *comparison) conflict(found []difference) reconcile.Mistake {
	var fields, remedies []string
	left := 0
	for _, f := range found {
		said, remedy := c.claim(f)
		switch {
		case said == "":
			continue
		case len(fields) == maxNamed:
			left++
			continue
		}
		fields = append(fields, said)
		if !slices.Contains(remedies, remedy) {
			remedies = append(remedies, remedy)
		}
	}
	if len(fields) == 0 {
		return reconcile.Mistake{}
	}
	message := strings.Join(fields, "; ")
	if left > 0 {
		message += fmt.Sprintf("; and %d more fields", left)
	}
	return reconcile.Mistake{Code: CodeConflict, Message: message + ": " + strings.Join(remedies, "; ")}
}

// claim says who changed a field that differs, and what to do about it; "" if we may set the field.
func (c *comparison) claim(f difference) (said, remedy string) {
	if f.want == nil || f.isOrder || c.isShared(f.at) {
		return "", "" // an apply leaves to others what it no longer sets, and puts items into our order
	}
	all := c.contenders(f.at)
	by := slices.DeleteFunc(slices.Clone(all), func(manager string) bool {
		return slices.Contains(c.options.Override, manager)
	})
	change := f.change()
	field := fmt.Sprintf("%s (%s there, %s wanted)", phrase.Cut(f.at.path().String(), maxShown), cmp.Or(change.Old, `""`),
		cmp.Or(change.New, `""`))
	switch {
	case len(by) > 0 && c.isOurs(f.at):
		return fmt.Sprintf("%s owns %s as well, since it was set back by hand",
				phrase.Cut(strings.Join(c.described(by, f.at), ", "), maxShown), field),
			"name this manager in take_fields_from of the settings for one run, or in override_managers"
	case len(by) > 0:
		return fmt.Sprintf("%s owns %s", phrase.Cut(strings.Join(c.described(by, f.at), ", "), maxShown), field),
			"undo that change, or name this manager in override_managers of the settings"
	case len(all) > 0: // all are overridden
		return "", ""
	case c.isScaled(f):
		return "somebody scaled it: " + field + " was set through /scale, as kubectl scale and autoscalers do, and has no " +
				"manager since then",
			"scale it back by hand when it may run again"
	case c.isTaken(f):
		return "somebody changed " + field + ", which was ours after the last apply and is it no more",
			"undo that change by hand, or change the data"
	}
	return "", ""
}

// described returns managers with the subresource by which they set a field.
func (c *comparison) described(managers []string, p place) []string {
	var out []string
	for _, manager := range managers {
		of := func(subresource string) bool {
			return len(c.owners(p, func(m managed) bool { return m.Manager == manager && m.Subresource == subresource })) > 0
		}
		if of("scale") && !of("") {
			manager += " (through /scale)"
		}
		out = append(out, manager)
	}
	return out
}

// isScaled reports whether a difference is a number of pods that nobody owns and that no server sets
// by itself: somebody set it by the subresource scale, which does not always note a manager.
func (c *comparison) isScaled(f difference) bool {
	n, isSaid := whole(f.is)
	isNotDefault := n != 1 && c.live.isApplied(c.options) && !c.hasPart(f.at.path())
	return c.isReplicas(f.at) && isSaid && (isNotDefault || c.isTaken(f))
}

// isReplicas reports whether a place is the number of pods of a kind that has the subresource scale.
func (c *comparison) isReplicas(p place) bool {
	return len(p) == 2 && p[0].name == "spec" && p[1].name == "replicas" &&
		(c.live.Kind == Deployment || c.live.Kind == StatefulSet)
}

// isTaken reports whether a field that differs was ours after the last apply and is it no more. The
// digest tells: the last apply was one of this manifest.
func (c *comparison) isTaken(f difference) bool {
	isNote := len(f.at) == 3 && f.at.name(0) == "metadata" && f.at.name(2) == SecretsAnnotation
	return !isNote && c.live.isApplied(c.options) && c.live.Digest() == c.digest && len(c.taken()) == 0 &&
		!c.hasPart(f.at.path())
}

// hasPart reports whether a field, or a part of it, is ours or becomes ours.
func (c *comparison) hasPart(path fieldpath.Path) bool {
	for _, m := range c.live.managed {
		if !c.options.isOurs(m) && !c.options.takes(m) {
			continue
		}
		fields, err := m.fields()
		if err != nil {
			c.err = err
			continue
		}
		for _, element := range path {
			if fields.Members.Has(element) && fields.WithPrefix(element).Empty() {
				return true // a whole value that the path is a part of
			}
			fields = fields.WithPrefix(element)
		}
		if !fields.Empty() {
			return true
		}
	}
	return false
}

// lent returns the fields of the manifest that are not ours any more although we applied the object:
// somebody changed them and undid that. It is for an object that differs in nothing. An apply makes
// them ours again.
func (c *comparison) lent() []place {
	if !c.live.isApplied(c.options) {
		return nil
	}
	var out []place
	seen := map[string]bool{}
	add := func(path fieldpath.Path) {
		p, missing := missingPart(c.want, c.live.Object, path)
		isNote := isAddress(p) || len(p) > 2 && p.name(0) == "metadata" && isNoted(p.name(2))
		if missing || isNote || seen[p.pointer()] || c.isShared(p) || c.options.isUnknown(p) || c.hasPart(path) {
			return
		}
		seen[p.pointer()] = true
		out = append(out, p)
	}
	hasReplicas := false
	for _, m := range c.live.managed {
		if c.options.isOurs(m) || c.options.takes(m) {
			hasReplicas = hasReplicas || at(m.written, "f:spec", "f:replicas") != nil
			continue
		}
		if m.Subresource == "status" {
			continue // it is of controllers, and each object that runs has one
		}
		fields, err := m.fields()
		if err != nil {
			c.err = err
			continue
		}
		for path := range fields.Leaves().All() {
			add(path)
		}
	}
	if p := (place{}).member("spec").member("replicas"); !hasReplicas && c.isReplicas(p) {
		add(p.path())
	}
	return out
}
