package manager

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// An expectation is what the data of a run want, before anything hides a part of them.
type expectation struct {
	of      runOf
	stays   map[string]bool   // objects that the data want
	kept    map[string]bool   // integrations with a mistake: cluster/namespace/integration
	skipped map[string]bool   // parts that are left out: cluster/namespace/caller
	parts   map[string]int    // number of items by part
	callers []string          // that are there
	planned map[string]string // actions of a dry run by object; nil if there was none
}

// expect returns what the data of a run want.
func (r *rough) expect(of runOf) *expectation {
	d, err := desired(r.t.Context(), of.query, of.settings)
	if err != nil {
		r.t.Fatal(err)
	}
	e := &expectation{of: of, stays: map[string]bool{}, kept: map[string]bool{}, skipped: map[string]bool{},
		parts: map[string]int{}, callers: d.Callers}
	for _, p := range d.Parts {
		at := physical(p.Shard)
		e.parts[at+"/"+p.Caller] += len(p.Items)
		if p.Skip != "" {
			e.skipped[at+"/"+p.Caller] = true
		}
		for _, it := range p.Items {
			b, _ := it.Body.(body)
			switch {
			case it.Mistake != (reconcile.Mistake{}) || b.Object == nil:
				e.kept[at+"/"+b.Integration] = true
			case !it.Delete && p.Skip == "":
				e.stays[physical(string(it.Key))] = true
			}
		}
	}
	return e
}

// partOf returns the name of the part of an object, and that of its integration.
func partOf(id string, o object) (part, integration string) {
	words := strings.SplitN(id, "/", 4)
	at := words[0] + "/" + words[1]
	app, _ := field(field(o, "metadata"), "labels")["app"].(string)
	return at + "/" + callerOf(o), at + "/" + strings.TrimPrefix(app, namePrefix)
}

// mayGo returns why an object must not be deleted by a run; "" if it may.
func (e *expectation) mayGo(id string, o object) string {
	part, of := partOf(id, o)
	_, isPart := e.parts[part]
	switch caller := callerOf(o); {
	case !isOurs(o):
		return "it is not ours"
	case e.stays[id]:
		return "the data want it"
	case e.kept[of]:
		return "its integration has a mistake"
	case e.skipped[part]:
		return "its part is left out"
	case e.of.by.upstream != "" && caller != e.of.by.upstream:
		return "it belongs to another manager"
	case !isPart && !e.of.leftGoes:
		return "its namespace left the data"
	case isPart && e.parts[part] == 0:
		return "its part would lose everything"
	}
	return ""
}

// check checks what no run may do, whatever goes wrong.
func (e *expectation) check(r *rough, before, after map[string]object, about, told string, total tally) {
	owned, deleted := map[string]int{}, map[string]int{}
	for id, o := range before {
		part, of := partOf(id, o)
		now := after[id]
		isReplaced := e.planned == nil && strings.Contains(told, "replace ") || e.planned[id] == "replace"
		isGone := now == nil || field(now, "metadata")["uid"] != field(o, "metadata")["uid"]
		if isOurs(o) {
			owned[part]++
			owned[""]++
		}
		switch {
		case isGone && isReplaced && e.stays[id]:
			total["replaced"]++
			deleted[part]++
			deleted[""]++
		case isGone:
			if why := e.mayGo(id, o); why != "" {
				r.t.Errorf("%s was deleted, but %s: %s", id, why, about)
			}
			total["deleted"]++
			deleted[part]++
			deleted[""]++
		case !isOurs(o) || e.of.by.upstream != "" && callerOf(o) != e.of.by.upstream &&
			slices.Contains(e.callers, callerOf(o)), e.kept[of], e.skipped[part]:
			if shape(r.t, o) != shape(r.t, now) {
				r.t.Errorf("%s was changed from %s to %s: %s", id, shape(r.t, o), shape(r.t, now), about)
			}
		}
	}
	for id, version := range r.foreign {
		if is := fmt.Sprint(field(after[id], "metadata")["resourceVersion"]); is != version {
			r.t.Errorf("%s of somebody else has the version %s, had %s: %s", id, is, version, about)
		}
	}
	e.checkLimits(r, owned, deleted, about)
	total["refused"] += strings.Count(told, "error TOO_MANY_DELETES")
}

// checkLimits checks that no part, and not all of them, lost more than the limits allow.
func (e *expectation) checkLimits(r *rough, owned, deleted map[string]int, about string) {
	limits, s := *parts().Limits, e.of.settings.Deletes
	for _, l := range []struct{ of, said *int }{{&limits.Max, s.Max}, {&limits.Percent, s.Percent},
		{&limits.Floor, s.Floor}} {
		if l.said != nil {
			*l.of = *l.said
		}
	}
	for part, n := range deleted {
		if n > limits.Floor && (n > limits.Max || n > owned[part]*limits.Percent/100) {
			r.t.Errorf("%q lost %d of %d objects with the limits %+v: %s", part, n, owned[part], limits, about)
		}
	}
}

// checkPlanned checks that a run without faults did what the dry run said.
func (e *expectation) checkPlanned(r *rough, before, after map[string]object, fails bool, about string, total tally) {
	if e.planned == nil {
		return
	}
	total["dry runs compared"]++
	ids := map[string]bool{}
	for id := range before {
		ids[id] = true
	}
	for id := range after {
		ids[id] = true
	}
	for id := range ids {
		was, is := before[id], after[id]
		changed := (was == nil) != (is == nil) || was != nil && shape(r.t, was) != shape(r.t, is)
		action, isPlanned := e.planned[id]
		if changed && !isPlanned {
			r.t.Errorf("%s changed, and the dry run said nothing: %s", id, about)
		}
		if !changed && isPlanned && !fails && (action == "create" || action == "delete") {
			r.t.Errorf("the dry run said %s %s, and it did not happen: %s", action, id, about)
		}
	}
}

// checkExplained checks that whatever is ours and stays although nobody wants it is told.
func (e *expectation) checkExplained(r *rough, after map[string]object, told, about string, total tally) {
	for id, o := range after {
		part, of := partOf(id, o)
		_, isPart := e.parts[part]
		_, key, _ := strings.Cut(id, "/")
		namespace, _, _ := strings.Cut(key, "/")
		switch caller := callerOf(o); {
		case !isOurs(o) || e.stays[id] || e.skipped[part] || field(o, "metadata")["deletionTimestamp"] != nil:
		case e.of.by.upstream != "" && caller != e.of.by.upstream:
		case !isPart && e.of.by.hasLost: // nobody remembers that the part was there
		case e.kept[of] && strings.Contains(told, strings.SplitN(of, "/", 2)[1][len(namespace):]),
			strings.Contains(told, key), !isPart && strings.Contains(told, "LEFT_BEHIND") && strings.Contains(told, namespace):
			total["explained"]++
		default:
			r.t.Errorf("%s stays, and nobody says why: %s", id, about)
		}
	}
}
