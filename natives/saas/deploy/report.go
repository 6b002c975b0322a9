package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas/render"
	"github.com/app-sre/prcheck/plan"
)

// note reports what people should know, and writes it into the log.
func (r *run) note(code plan.FindingCode, at plan.Place, message string) {
	_, _ = fmt.Fprintln(r.env.Log, sanitize.Line(message)) // the log is for people
	r.env.Report(integration.Remark{Finding: plan.Finding{Code: code, Severity: plan.SeverityNote,
		Place: plan.Place{File: at.File, Pointer: at.Pointer}, Message: message}})
}

// tellForeign says that an object belongs to another integration, so that it stays as it is. It is
// an error of a run, which does not deploy what it should.
func (r *run) tellForeign(v *view, key reconcile.Key, of string) {
	f := plan.Finding{Code: reconcile.CodeOwnedByOther, Severity: plan.SeverityWarning, Place: v.place,
		Message: fmt.Sprintf("%s belongs to the integration %.100q, so it stays as it is: let the settings say "+
			"take_over_from, or remove one of both", key, of)}
	if r.writes {
		f.Severity = plan.SeverityError
	}
	_, _ = fmt.Fprintln(r.env.Log, sanitize.Line(f.Message)) // the log is for people
	r.env.Report(integration.Remark{Finding: f})
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
			r.reportOpaque(c, t)
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

// reportOpaque says that nobody knows what becomes of a target.
func (r *run) reportOpaque(c *cell, t *target) {
	if !errors.Is(t.err, render.ErrOpaque) {
		return
	}
	message := fmt.Sprintf("what %s deploys is not known: %v", t.Label(), t.err)
	r.note(CodeOpaque, t.Place, message)
	what := plan.UnlookedAll
	if r.base != nil && r.base.err == nil && !c.isAltered { // the change does nothing to it
		what = plan.UnlookedDrift
	}
	r.env.Report(integration.Remark{Shard: c.Key(), Unlooked: &plan.Unlooked{Part: c.Key() + " at " + t.at(), What: what,
		Code: string(CodeOpaque), Why: message}})
}

// linkOf returns where the refs of both sides of a target can be compared, "" if it is the same ref. Branches
// stand in the link by their names, as in the data.
func linkOf(was, now *target) string {
	if was == nil || was.Template.URL != now.Template.URL || was.Ref == now.Ref {
		return ""
	}
	return fmt.Sprintf("%s/compare/%s...%s", strings.TrimSuffix(now.Template.URL, "/"), was.Ref, now.Ref)
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
			r.note(CodePartly, now.Place,
				fmt.Sprintf("%s: what the change alters is not known, because base cannot be rendered: %v", now.Label(), was.err))
		}
		return
	}
	changes := render.Compare(was.out, now.out)
	for i, c := range changes {
		if i == maxTold {
			r.note(CodeChange, now.Place, fmt.Sprintf("%s: the change alters %d more objects", now.Label(),
				len(changes)-maxTold))
			return
		}
		r.note(CodeChange, now.Place, fmt.Sprintf("%s: the change %s", now.Label(), describeChange(c)))
	}
}

// describeChange says what becomes of an object.
func describeChange(c render.ObjectChange) string {
	name := c.Kind
	if c.Group != "" {
		name += "." + c.Group
	}
	name += "/" + c.Name
	switch c.Action {
	case render.Delete:
		return "removes " + name
	case render.Create:
		return "adds " + name
	}
	var places []string
	for i, p := range c.Changes {
		if i == maxPlaces {
			places = append(places, fmt.Sprintf("and %d more places", len(c.Changes)-maxPlaces))
			break
		}
		places = append(places, fmt.Sprintf("%s: %s -> %s", p.At(), cmp.Or(p.Old, "none"), cmp.Or(p.New, "none")))
	}
	return fmt.Sprintf("alters (%s) %s", strings.Join(places, "; "), name)
}

// values returns the values of a map.
func values[K comparable, V any](m map[K]V) iter.Seq[V] { return maps.Values(m) }

func compareTexts(a, b string) int { return strings.Compare(a, b) }
