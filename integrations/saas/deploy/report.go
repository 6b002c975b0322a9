package deploy

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/reconcile"
)

// note reports what people should know, and writes it into the log.
func (r *run) note(code reconcile.Code, at reconcile.Place, message string) {
	_, _ = fmt.Fprintln(r.env.Log, sanitize.Line(message)) // the log is for people
	r.env.Report(integration.Finding{Finding: plan.Finding{Code: string(code), Severity: plan.SeverityNote, File: at.File, Pointer: at.Pointer, Message: message}})
}

// reportChange says what a change alters: the links to the commits between both sides, the
// objects that are rendered otherwise, and what was not checked.
func (r *run) reportChange() {
	if r.head.err != nil {
		return
	}
	before := map[string]*target{}
	if r.base != nil && r.base.err == nil {
		for _, c := range r.base.cells {
			for _, t := range c.targets {
				before[t.UID()] = t
			}
		}
	}
	links := map[string]bool{}
	for _, c := range r.head.cells {
		for _, t := range c.targets {
			r.reportPartly(t)
			was := before[t.UID()]
			if r.base == nil {
				continue
			}
			if link := linkOf(was, t); link != "" && !links[link] {
				links[link] = true
				r.note(CodeCompare, t.place("/ref"), fmt.Sprintf("%s: %s", t.Label(), link))
			}
			r.reportObjects(was, t)
		}
	}
}

// reportPartly says what of a target was not checked, and what it leaves out.
func (r *run) reportPartly(t *target) {
	for _, left := range t.out.Skipped {
		_, _ = fmt.Fprintln(r.env.Log, sanitize.Line(t.Label()+": "+left)) // the log is for people
	}
	for _, what := range t.out.Unchecked {
		r.note(CodePartly, t.Place, t.Label()+" was not checked completely: "+what)
	}
}

// linkOf returns where the commits between both sides of a target can be compared, "" if it is
// the same commit.
func linkOf(was, now *target) string {
	if was == nil || was.Template.URL != now.Template.URL || was.Ref == now.Ref {
		return ""
	}
	old, next := cmp.Or(was.commit, was.Ref), cmp.Or(now.commit, now.Ref)
	return fmt.Sprintf("%s/compare/%s...%s", strings.TrimSuffix(now.Template.URL, "/"), old, next)
}

// maxTold is how many objects of one target are told, and maxPlaces how many places of an object.
const (
	maxTold   = 20
	maxPlaces = 10
)

// reportObjects says how a change alters the objects of a target.
func (r *run) reportObjects(was, now *target) {
	if was == nil {
		was = &target{}
	}
	if was.err != nil || now.err != nil {
		if now.err == nil {
			r.note(CodePartly, now.Place, fmt.Sprintf("%s: what the change alters is not known, because base cannot be rendered: %v", now.Label(), was.err))
		}
		return
	}
	old, next := was.objects(), now.objects()
	told := 0
	for _, key := range slices.Sorted(maps.Keys(union(old, next))) {
		message := describeObject(old[key], next[key])
		if message == "" {
			continue
		}
		if told++; told <= maxTold {
			r.note(CodeChange, now.Place, fmt.Sprintf("%s: the change %s %s", now.Label(), message, key))
		}
	}
	if told > maxTold {
		r.note(CodeChange, now.Place, fmt.Sprintf("%s: the change alters %d more objects", now.Label(), told-maxTold))
	}
}

// A rendered object is an object of a target with its places of secrets.
type rendered struct {
	object map[string]any
	masked []string
}

// objects returns the objects of a target by kind and name.
func (t *target) objects() map[string]*rendered {
	out := map[string]*rendered{}
	for i, o := range t.out.Objects {
		out[strings.TrimPrefix(string(keyOf("", o)), "/")] = &rendered{o, t.out.Masked[i]}
	}
	return out
}

// describeObject says what becomes of an object, "" if it stays the same.
func describeObject(was, now *rendered) string {
	switch {
	case now == nil:
		return "removes"
	case was == nil:
		return "adds"
	}
	var places []string
	for _, p := range differing("", was.object, now.object) {
		old, next := valueText(was.object, p), valueText(now.object, p)
		if touches(p, was.masked) || touches(p, now.masked) || strings.HasPrefix(p, "/data/") || strings.HasPrefix(p, "/stringData/") {
			old, next = hidden, hidden
		}
		places = append(places, fmt.Sprintf("%s: %s -> %s", p, old, next))
	}
	if len(places) == 0 {
		return ""
	}
	slices.Sort(places)
	if more := len(places) - maxPlaces; more > 0 {
		places = append(places[:maxPlaces:maxPlaces], fmt.Sprintf("and %d more places", more))
	}
	return "alters (" + strings.Join(places, "; ") + ")"
}

// union returns all keys of two maps.
func union[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// values returns the values of a map.
func values[K comparable, V any](m map[K]V) iter.Seq[V] { return maps.Values(m) }

func compareTexts(a, b string) int { return strings.Compare(a, b) }
