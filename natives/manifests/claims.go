package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/reconcile"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

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
