package effects

import (
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// A kubectl finds effects in the output of kubectl with --dry-run, and of kubectl diff.
type kubectl struct {
	object string // whose difference is read; "" if its kind is known
}

var (
	// kubectlLine matches what kubectl says about an object: kind/name, or kind "name".
	kubectlLine = lazyregexp.New(`^([a-z][\w.-]*(?:/| ")[^\s"/]+)"? (created|configured|serverside-applied|patched|replaced|labeled|unlabeled|annotated|scaled|deleted|pruned|force deleted)(?: from \S+ namespace)? \((?:server )?dry run\)$`)
	// kubectlUnchanged matches an object that stays as it is.
	kubectlUnchanged = lazyregexp.New(`^[a-z][\w.-]*/\S+ unchanged(?: \((?:server )?dry run\))?$`)
	// diffHead matches the first line of the difference of an object. The files are named
	// after the object.
	diffHead = lazyregexp.New(`^diff -\S+ (?:-\S+ )*\S*/LIVE-\d+/(\S+) \S*/MERGED-\d+/(\S+)$`)
	// diffHunk matches the place of a difference.
	diffHunk = lazyregexp.New(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
)

var kubectlKinds = map[string]plan.EffectKind{"created": plan.EffectCreate, "deleted": plan.EffectDelete,
	"force deleted": plan.EffectDelete, "pruned": plan.EffectDelete}

func (k *kubectl) read(line string, claimed bool, found *collection) bool {
	if claimed {
		return false
	}
	if m := diffHead.FindStringSubmatch(line); m != nil && m[1] == m[2] {
		k.end(found)
		k.object = m[1]
		return true
	}
	if m := diffHunk.FindStringSubmatch(line); m != nil && k.object != "" {
		k.readHunk(m, found)
		return true
	}
	if m := kubectlLine.FindStringSubmatch(line); m != nil {
		kind, ok := kubectlKinds[m[2]]
		if !ok {
			kind = plan.EffectChange
		}
		found.add(kind, strings.Replace(m[1], ` "`, "/", 1), 1)
		return true
	}
	return kubectlUnchanged.MatchString(line)
}

// readHunk tells from the first difference of an object whether the object is new or gone:
// then one of the two sides is empty.
func (k *kubectl) readHunk(m []string, found *collection) {
	kind := plan.EffectChange
	switch {
	case m[1] == "0" && m[2] == "0":
		kind = plan.EffectCreate
	case m[3] == "0" && m[4] == "0":
		kind = plan.EffectDelete
	}
	found.add(kind, k.object, 1)
	k.object = ""
}

// end takes an object without a readable difference as changed.
func (k *kubectl) end(found *collection) {
	if k.object != "" {
		found.add(plan.EffectChange, k.object, 1)
		k.object = ""
	}
}
