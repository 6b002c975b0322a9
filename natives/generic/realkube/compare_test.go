package realkube

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
	"github.com/app-sre/prcheck/natives/generic/rules"
	"github.com/app-sre/prcheck/natives/generic/threeway"
)

// A tally counts how histories of one kind ended.
type tally struct {
	histories, late, tried, refused, blocked, contested, edits int
	// changes outside that the server makes for kubectl, too
	linked                     int
	nulls                      []string        // differences that a null in a list explains
	second, outside, different []string        // failures
	apart                      map[string]bool // others could edit in one world only
}

// The same histories, once applied by us and once by kubectl, lead to the same objects; the
// next plan is empty; and nothing else changes.
func TestSameAsKubectl(t *testing.T) {
	c := start(t, "ours", "theirs")
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			got := c.compare(t, k, *triples)
			t.Logf("%d histories, %d tried to the end, %d refused, %d blocked, %d contested, %d edits; second plan not empty %d, changes outside %d (%d by the server), other than kubectl %d, and %d by a null in a list",
				got.histories, got.tried, got.refused, got.blocked, got.contested, got.edits, len(got.second), len(got.outside),
				got.linked, len(got.different), len(got.nulls))
			for _, line := range got.nulls[:min(len(got.nulls), 3)] {
				t.Log(line)
			}
			for _, list := range [][]string{got.second, got.outside, got.different} {
				for _, line := range list[:min(len(list), 10)] {
					t.Error(line)
				}
			}
		})
	}
}

func (c *cluster) compare(t *testing.T, k kind, n int) tally {
	t.Helper()
	r := rand.New(rand.NewPCG(*seed, uint64(len(k.name))))
	u := c.us(t, k)
	got := tally{apart: map[string]bool{}}
	var all []history
	var objects []any
	for i := range n {
		h := makeHistory(k, r, i)
		all = append(all, h)
		objects = append(objects, k.object("theirs", h.name, h.applied))
	}
	made, _ := c.kubectl(t, k, objects)
	got.histories = n
	all = slices.DeleteFunc(all, func(h history) bool {
		o := u.apply(t, "ours", h.name, h.applied)
		if isMade := o.err == nil; isMade != made[h.name] {
			t.Errorf("%s: we made it: %v, kubectl: %v; %v", h.name, isMade, made[h.name], o.err)
		}
		return !made[h.name]
	})
	for _, h := range all {
		for _, e := range h.edits {
			got.edits++
			a, b := c.do(t, k, "ours", h.name, e), c.do(t, k, "theirs", h.name, e)
			if a != b {
				t.Logf("%s: an edit was answered %d and %d: these are two histories", h.name, a, b)
				got.apart[h.name] = true
			}
			if a != b && e.force {
				t.Errorf("%s: an edit with force was answered %d and %d", h.name, a, b)
			}
		}
	}
	all = slices.DeleteFunc(all, func(h history) bool { return got.apart[h.name] })
	c.finish(t, u, all, &got)
	return got
}

// finish applies what is desired in the end, by us and by kubectl, and compares.
func (c *cluster) finish(t *testing.T, u *us, all []history, got *tally) {
	t.Helper()
	k := u.kind
	var whole, plain, forced []any
	ours, befores, applied := map[string]outcome{}, map[string]map[string]any{}, map[string]any{}
	for _, h := range all {
		befores[h.name], applied[h.name] = c.live(t, k, "ours", h.name), u.applied[h.name]
		o := u.apply(t, "ours", h.name, h.desired)
		ours[h.name] = o
		wanted := merged(o.plan.Apply, map[string]any{"metadata": map[string]any{"namespace": "theirs"}})
		switch {
		case o.plan.Force:
			forced = append(forced, wanted)
		default:
			plain = append(plain, wanted)
		}
		if len(o.plan.LeftOut) > 0 {
			whole = append(whole, k.object("theirs", h.name, h.desired))
		}
	}
	// What we leave out is what kubectl is refused for. Without it, both do the same.
	for name := range first(c.kubectl(t, k, whole)) {
		got.different = append(got.different, fmt.Sprintf("%s: we leave out %q, and kubectl applies all", name,
			ours[name].plan.LeftOut))
	}
	theirs, why := c.kubectl(t, k, plain)
	more, whyForced := c.kubectl(t, k, forced, "--force-conflicts")
	maps.Copy(theirs, more)
	// The server can name managers that the object does not: then we force once it refuses.
	var late []any
	for _, h := range all {
		if o := ours[h.name]; o.err == nil && o.plan.Action == threeway.Update && !theirs[h.name] && len(o.notes) == 0 {
			late = append(late, merged(o.plan.Apply, map[string]any{"metadata": map[string]any{"namespace": "theirs"}}))
		}
	}
	got.late = len(late)
	maps.Copy(theirs, first(c.kubectl(t, k, late, "--force-conflicts")))
	for _, h := range all {
		got.tried++
		o := ours[h.name]
		switch {
		case o.plan.Action == threeway.Blocked:
			got.blocked++
			continue
		case o.err != nil:
			got.refused++
			if theirs[h.name] {
				got.different = append(got.different, fmt.Sprintf("%s is refused, and kubectl applies it: %v; %s", h.name, o.err,
					encode(o.plan.Apply)))
			}
			continue
		case !theirs[h.name] && len(o.notes) > 0:
			got.late++ // both were refused, and we went on without what others have
			continue
		case !theirs[h.name] && o.plan.Action != threeway.None:
			got.differs(h, fmt.Sprintf("%s is applied, and kubectl is refused: %s %s", h.name, encode(o.plan.Changes),
				why+whyForced))
			continue
		}
		if len(o.plan.LeftOut) > 0 {
			got.contested++
		}
		if p := u.plan(t, "ours", h.name, h.desired); p.Action != threeway.None {
			got.second = append(got.second, fmt.Sprintf("%s second plan: %s", h.name, encode(p.Changes)))
		}
		after, other := comparable(c.live(t, k, "ours", h.name)), comparable(c.live(t, k, "theirs", h.name))
		for _, path := range changedOutside(comparable(befores[h.name]), after, applied[h.name],
			k.object("ours", h.name, h.desired), u.rules) {
			if at, _, _ := strings.Cut(path, " "); encode(find(after, at)) == encode(find(other, at)) {
				got.linked++
			} else {
				got.outside = append(got.outside, h.name+" "+path)
			}
		}
		if d := differences("", after, other); len(d) > 0 {
			got.differs(h, fmt.Sprintf("%s differs from kubectl: %s; plan %s %s %s", h.name, strings.Join(d, ", "),
				o.plan.Action, encode(o.plan.Changes), encode(o.plan.Warnings)))
		}
	}
}

// differs notes a difference from kubectl. kubectl sends a null in a list, which the server drops without noting who
// owns the list; we leave the null out, and own the list. So others can take it from kubectl alone.
func (got *tally) differs(h history, text string) {
	if hasNullInList(h.applied, false) || hasNullInList(h.desired, false) {
		got.nulls = append(got.nulls, text)
		return
	}
	got.different = append(got.different, text)
}

// hasNullInList reports whether there is a null below a list.
func hasNullInList(v any, inList bool) bool {
	switch v := v.(type) {
	case nil:
		return inList
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), func(v any) bool { return hasNullInList(v, inList) })
	case []any:
		return slices.ContainsFunc(v, func(v any) bool { return hasNullInList(v, true) })
	}
	return false
}

// changedOutside returns the paths that changed and are neither desired nor applied.
func changedOutside(before, after, applied any, desired map[string]any, r rules.Rules) []string {
	var out []string
	for _, path := range differences("", before, after) {
		at, _, _ := strings.Cut(path, " ")
		if !reaches(applied, at, r) && !reaches(desired, at, r) {
			out = append(out, path)
		}
	}
	return out
}

// reaches reports whether a body has a value at a path of differences, or a value around it
// that is not merged.
func reaches(v any, path string, r rules.Rules) bool {
	at := ""
	for _, part := range jsonpointer.Split(path) {
		members, isObject := v.(map[string]any)
		if !isObject || r.At(at).Atomic {
			return v != nil
		}
		inner, isThere := members[part]
		if !isThere {
			return false
		}
		v, at = inner, jsonpointer.Append(at, part)
	}
	return true
}

// find returns the value at a path of differences.
func find(v any, path string) any {
	for _, part := range jsonpointer.Split(path) {
		members, _ := v.(map[string]any)
		v = members[part]
	}
	return v
}

// differences returns the paths at which two values differ, with both values.
func differences(path string, a, b any) []string {
	x, isObject := a.(map[string]any)
	y, isOther := b.(map[string]any)
	if !isObject || !isOther {
		if body.Equal(a, b, body.Plain) {
			return nil
		}
		return []string{fmt.Sprintf("%s %.200s | %.200s", path, encode(a), encode(b))}
	}
	names := map[string]bool{}
	for name := range x {
		names[name] = true
	}
	for name := range y {
		names[name] = true
	}
	var out []string
	for name := range names {
		out = append(out, differences(jsonpointer.Append(path, name), x[name], y[name])...)
	}
	slices.Sort(out)
	return out
}

func first[A, B any](a A, _ B) A { return a }
