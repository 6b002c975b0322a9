package promotions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// A stage is the targets whose promotions are one merge request: they share files, directly or through others, and the
// same people approve them. So a stage never waits for the people of another one. What moves together is a stage of its
// own.

// freightKey begins the keys of what moves together.
const freightKey = "freight "

// stagesOf divides subscribers into stages.
func stagesOf(in ownSettings, all []*subscriber) []*component {
	files, by := map[string][]string{}, map[string][]*subscriber{}
	for _, s := range all {
		key := s.key
		if name := in.FreightOf(s.target()); name != "" {
			key = freightKey + name
		}
		if file := in.inProject(s.target().Place.File); !slices.Contains(files[key], file) {
			files[key] = append(files[key], file)
		}
		by[key] = append(by[key], s)
	}
	var out []*component
	for _, key := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(key, freightKey) {
			continue
		}
		slices.Sort(files[key])
		out = append(out, &component{branch: promotion.Branch(append(slices.Clone(files[key]), key)), files: files[key],
			subscribers: by[key], together: true})
		delete(files, key)
	}
	for _, c := range promotion.Components(files) {
		out = append(out, stagesOfComponent(in, c, by)...)
	}
	for _, c := range out {
		sortByPlace(c.subscribers)
	}
	return out
}

// stagesOfComponent divides subscribers that share files by who approves them.
func stagesOfComponent(in ownSettings, c promotion.Component, by map[string][]*subscriber) []*component {
	stages := map[string]*component{}
	for _, key := range c.Subscribers {
		for _, s := range by[key] {
			name := in.ApproversOf(s.target())
			if stages[name] == nil {
				stages[name] = &component{branch: promotion.Branch(append(slices.Clone(c.Files), name)), files: c.Files}
			}
			stages[name].subscribers = append(stages[name].subscribers, s)
		}
	}
	var out []*component
	for _, name := range slices.Sorted(maps.Keys(stages)) {
		out = append(out, stages[name])
	}
	return out
}

// sortByPlace sorts subscribers by their places in the data.
func sortByPlace(all []*subscriber) {
	slices.SortStableFunc(all, func(a, b *subscriber) int {
		x, y := a.target().Place, b.target().Place
		if n := compareText(x.File, y.File); n != 0 {
			return n
		}
		return len(x.Pointer) - len(y.Pointer) + compareText(x.Pointer, y.Pointer)
	})
}

// waitForPeople is how many times the patience a merge request is left alone that waits for people
// alone, since its checks passed: a push could take back approvals.
const waitForPeople = 24

// A desire is what a merge request could promote.
type desire struct {
	shown  []entry // what an open merge request shows
	kept   []entry // of that, what may stay
	fresh  []entry // the newest of each target
	others []entry // of that, what is for targets that are not shown
	unsure bool    // something is not known
}

// wants returns what a merge request is to promote. An open one keeps its content for some time,
// though something newer may be promoted, since a push starts all checks anew; and it outlives the
// window in which it was opened. What is due for other targets is added at once, unless somebody approved it. What is
// not known stays as it is; unsure tells that something is not known, so nothing may be closed.
func (w *work) wants(c *component, open *services.MergeRequest, m memory) (out []entry, unsure bool) {
	var d desire
	if open != nil {
		if b, ok := readBlock(open.Description); ok {
			d.shown = b.Entries
		}
	}
	for _, s := range c.subscribers {
		w.want(&d, c, s, m)
	}
	if c.together {
		return d.allOrNone(c), d.unsure
	}
	if open == nil || len(d.kept) == 0 || len(d.kept) < len(d.shown) || open.Checks == services.ChecksFailed ||
		w.hasHotfix(c, d.kept) {
		return d.fresh, d.unsure
	}
	return w.patient(c, open, m, d), d.unsure
}

// want adds what is to be promoted of one target.
func (w *work) want(d *desire, c *component, s *subscriber, m memory) {
	want := s.entry(w.settings, s.d)
	is, isShown := find(d.shown, want)
	began, _ := find(m.Begun, want)
	still, goesOn, err := s.goesOn(w.settings, began)
	if s.isUnknown() || err != nil {
		d.unsure = true
		if isShown {
			d.kept, d.fresh = append(d.kept, is.with(want)), append(d.fresh, is.with(want))
		}
		return
	}
	due := len(d.fresh)
	switch {
	case s.differs(s.d):
		d.fresh = append(d.fresh, want)
	case goesOn && !c.together:
		d.fresh = append(d.fresh, still)
	}
	if !isShown {
		d.others = append(d.others, d.fresh[due:]...)
		return
	}
	if of, may := promotion.Still(s.q, is.Ref); may {
		d.kept = append(d.kept, s.entry(w.settings, of))
		if !s.differs(s.d) && !goesOn {
			d.fresh = append(d.fresh, s.entry(w.settings, of))
		}
	}
}

// allOrNone returns what is to be promoted of targets that move together: all of it, or nothing. What is shown stays
// as long as all of it may.
func (d desire) allOrNone(c *component) []entry {
	n := len(c.subscribers)
	switch {
	case len(d.kept) == n || d.unsure:
		return d.kept
	case len(d.fresh) == n:
		return d.fresh
	}
	return nil
}

// patient returns what an open merge request is to promote whose content may stay. What waits for it is told.
func (w *work) patient(c *component, open *services.MergeRequest, m memory, d desire) []entry {
	since := m.At
	if since.IsZero() {
		since = open.Opened
	}
	patience := w.settings.Patience
	if open.Checks == services.ChecksPassed {
		patience *= waitForPeople
	}
	stay, until := slices.Concat(d.kept, d.others), since.Add(patience)
	why := fmt.Sprintf("the merge request !%d is open with an older commit", open.Number)
	switch {
	case open.Approved:
		stay, until = d.kept, time.Time{}
		why = fmt.Sprintf("the merge request !%d is approved, and left alone until it is merged or closed", open.Number)
	case !w.now.Before(until):
		return d.fresh
	}
	at := map[string]int{}
	for i, s := range c.subscribers {
		at[s.key] = i
		e, due := find(d.fresh, s.entry(w.settings, s.d))
		if is, shown := find(stay, e); due && (!shown || is.Ref != e.Ref) {
			s.queue = &queued{commit: e.Ref, until: until, why: why}
		}
	}
	slices.SortStableFunc(stay, func(a, b entry) int { return at[a.key] - at[b.key] })
	return stay
}

// hasHotfix reports whether a subscriber is to get a hotfix that is not among what is kept.
func (w *work) hasHotfix(c *component, kept []entry) bool {
	for _, s := range c.subscribers {
		if s.differs(s.d) && slices.Contains(s.q.Hotfix, s.d.Ref) &&
			!slices.ContainsFunc(kept, func(e entry) bool { return e.key == s.key && e.Ref == s.d.Ref }) {
			return true
		}
	}
	return false
}

// forbids reports whether the closing of a merge request stands against an entry that it had.
func (w *work) forbids(number int, e entry) bool {
	s := w.subscriberOf(e)
	return s == nil || w.isNotes(s, e) || s.q.Own.Forbids(number, e.Ref)
}

// reasons returns why targets of a component are not promoted any more.
func (w *work) reasons(c *component) []string {
	var out []string
	for _, s := range c.subscribers {
		if s.d.Hold != "" {
			out = append(out, fmt.Sprintf("%s: %s", code(s.label()), s.d.Hold))
		}
	}
	return out
}
