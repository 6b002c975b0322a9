package promotions

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/edit"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/schedule"
)

// A subscriber is a target of the data that is promoted: one value of ref. A target that selects
// namespaces is several targets of the model.
type subscriber struct {
	key     string // stays the same while the data are edited elsewhere
	targets []*saas.Target
	q       promotion.Question
	d       promotion.Decision
	asked   bool   // the question is complete
	unknown error  // why there is no decision
	lately  string // the newest commit that is known, for a wait of which nothing else is
	queue   *queued
}

// A queued is a commit that waits for an open merge request.
type queued struct {
	commit string
	until  time.Time // zero if nobody knows
	why    string
}

func (s *subscriber) target() *saas.Target { return s.targets[0] }

// label returns the name of a subscriber for people.
func (s *subscriber) label() string {
	t := s.target()
	if !t.Selected {
		return sanitize.Line(t.Label())
	}
	return sanitize.Line(fmt.Sprintf("%s/%s (%d namespaces)", t.Template.File.Name, t.Template.Name, len(s.targets)))
}

// hold returns why something newer is not promoted, "" if nothing is held.
func (s *subscriber) hold() string {
	if s.unknown != nil {
		return "it is not known what it may be promoted to: " + s.unknown.Error()
	}
	return s.d.Hold
}

// differs reports whether the target is to be changed.
func (s *subscriber) differs(d promotion.Decision) bool {
	return s.unknown == nil && promotion.Differs(s.q.Ref, promotion.Notes(s.q.Data), d.Ref, d.Data)
}

// promotes reports whether a target is promoted at all. One with a mistake is, and is held.
func promotes(t *saas.Target) bool {
	p := t.Promotion
	return p != nil && p.Auto && len(p.Subscribe) > 0 && !t.Disable && !t.Delete && !t.Template.File.Deprecated
}

// subscribers returns the subscribers of a model, by their keys.
func subscribers(m *saas.Model) []*subscriber {
	var out []*subscriber
	selecting := map[string]*subscriber{}
	for _, f := range m.Files {
		for _, of := range f.Templates {
			for _, t := range of.Targets {
				if !promotes(t) {
					continue
				}
				place := t.Place.File + "#" + t.Place.Pointer
				if s := selecting[place]; t.Selected && s != nil {
					s.targets = append(s.targets, t)
					continue
				}
				s := &subscriber{key: keyOf(t), targets: []*saas.Target{t}}
				selecting[place] = s
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *subscriber) int { return strings.Compare(a.key, b.key) })
	return out
}

// keyOf returns the key of the subscriber that a target belongs to.
func keyOf(t *saas.Target) string {
	key := strings.Join([]string{t.Template.File.Path, t.Template.Name, namespaceOf(t), nameOf(t)}, ":")
	if channels, selector := t.Distinct(); channels != nil {
		key += fmt.Sprintf(":%q", channels)
		if selector != nil {
			key += fmt.Sprintf(" %q %q", selector.Include, selector.Exclude)
		}
	}
	return key
}

// namespaceOf returns the path of the namespace of a target, "" if it selects namespaces.
func namespaceOf(t *saas.Target) string {
	if t.Selected {
		return ""
	}
	return t.Namespace.Path
}

func nameOf(t *saas.Target) string {
	if t.Name == nil {
		return ""
	}
	return *t.Name
}

// An entry is what a merge request does to one target.
type entry struct {
	File      string `json:"file"` // in the project
	Template  string `json:"template,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Channels and Selector tell targets apart that have the rest in common.
	Channels []string       `json:"channels,omitempty"`
	Selector *edit.Selector `json:"selector,omitempty"`
	Ref      string         `json:"ref"`
	Notes    []noted        `json:"notes,omitempty"`

	key, was, label string
	why             string // it is promoted, if that is not usual
}

// A noted is a config hash of a publisher.
type noted struct {
	Channel string `json:"channel"`
	Saas    string `json:"saas"`
	Hash    string `json:"hash"`
}

// entry returns what a decision does to the target of a subscriber.
func (s *subscriber) entry(in ownSettings, d promotion.Decision) entry {
	t := s.target()
	out := entry{File: in.inProject(t.Place.File), Template: t.Template.Name, Namespace: namespaceOf(t), Name: nameOf(t),
		Ref: d.Ref,
		key: s.key, was: s.q.Ref, label: s.label()}
	channels, selector := t.Distinct()
	if out.Channels = channels; selector != nil {
		// as JSON has them
		out.Selector = &edit.Selector{Include: append([]string(nil), selector.Include...),
			Exclude: append([]string(nil), selector.Exclude...)}
	}
	for _, n := range d.Data {
		out.Notes = append(out.Notes, noted(n))
	}
	out.why = s.why(d)
	return out
}

// why returns why a commit is promoted, "" if all publishers ran it for long enough.
func (s *subscriber) why(d promotion.Decision) string {
	if d.Back {
		return fmt.Sprintf("it goes back, since a verification found %.12s bad", s.q.Ref)
	}
	if e, is := s.q.Own.Standing().Promoted[d.Ref]; is {
		return fmt.Sprintf("%s promoted it at %s, whatever its time and its window are", e.Who,
			e.At.UTC().Format("2006-01-02 15:04Z"))
	}
	return ""
}

// change returns the change of a file that an entry is.
func (e entry) change() edit.Change {
	out := edit.Change{Template: e.Template, Namespace: e.Namespace, Name: e.Name, Channels: e.Channels,
		Selector: e.Selector, Was: e.was, Ref: e.Ref}
	for _, n := range e.Notes {
		out.Notes = append(out.Notes, edit.Note(n))
	}
	return out
}

// isSame reports whether two entries are about the same target.
func (e entry) isSame(o entry) bool {
	return e.File == o.File && e.Template == o.Template && e.Namespace == o.Namespace && e.Name == o.Name &&
		slices.Equal(e.Channels, o.Channels) && reflect.DeepEqual(e.Selector, o.Selector)
}

// decide asks what a decision needs, and decides. Began tells that something is under way since a
// window, and shown that an open merge request changes the target.
func (a *asker) decide(ctx context.Context, s *subscriber, was seen, last window, began, shown bool) {
	s.q.Subject = promotion.Of(a.model, s.target(), a.settings.Settings)
	s.q.Rule, s.q.Now, s.q.Last, s.q.MaxGap = a.settings.Candidate, a.env.Now(), last.last, last.gap
	if s.q.Broken != "" || !saas.IsCommit(s.q.Ref) {
		s.d = promotion.Decision{Ref: s.q.Ref, Hold: s.q.Broken, Code: promotion.Unknown}
		if s.q.Broken == "" {
			s.d.Hold = fmt.Sprintf("auto promotion needs the full sha of a commit as ref, not %.80q", s.q.Ref)
		}
		return
	}
	if s.d.Hold = a.branches(ctx, s); s.unknown != nil || s.d.Hold != "" {
		s.d.Ref, s.d.Code = s.q.Ref, promotion.Unknown
		a.guess(ctx, s)
		return
	}
	s.q.Pin = promotion.Pin(was.Pin, was.Ref, s.q.Ref, s.q.Branches)
	s.asked = true
	commits := commitsOf(s.q)
	s.lately = newestOf(s.q)
	if len(commits) == 1 && !s.q.Redeploy && !shown && !s.q.Back && was.Last == "" {
		s.d = promotion.Decide(s.q) // nothing is newer, so no record is needed
		return
	}
	if a.records == nil {
		s.unknown = fmt.Errorf("the records of promotions: %w", a.noLogs)
		return
	}
	s.q.Own, s.q.OwnErr = promotion.OwnBook(ctx, a.records, a.books, s.target())
	if s.unknown = s.q.OwnErr; s.unknown != nil {
		return
	}
	if back := s.q.Own.Standing().Back; back != nil && back.Commit == s.q.Ref {
		s.q.Pin = was.Pin // a loop went back, not a person
	}
	s.q.Logs = a.logsOf(ctx, s.q.Subject, commits)
	if s.d = promotion.Decide(s.q); s.differs(s.d) || began {
		s.q.Health = a.health(ctx, s.targets)
		s.d = promotion.Decide(s.q)
	}
}

// logsOf reads the records and the ledgers of the publishers of a subject.
func (a *asker) logsOf(ctx context.Context, of promotion.Subject, commits []string) promotion.Logs {
	return promotion.WithBooks(ctx, a.books, a.records.ReadAmong(ctx, of, commits...))
}

// guess finds the newest commit that a publisher ran, for a target of which nothing newer is known.
func (a *asker) guess(ctx context.Context, s *subscriber) {
	if a.records == nil {
		return
	}
	for _, p := range a.publishers(s.target()) {
		b, err := a.books.Of(ctx, p.UID(), p.Label())
		if err != nil {
			continue
		}
		logs := promotion.Logs{}
		for _, c := range p.Promotion.Publish {
			at := promotion.RecordPlace{Channel: c, UID: p.UID()}
			logs[at] = a.records.Log(ctx, at)
		}
		if c := promotion.NewestRun(b, logs); c != "" && c != s.q.Ref {
			s.lately = c
			return
		}
	}
}

// newestOf returns the newest commit of the branches that is not the present one, "" if nothing is newer.
func newestOf(q promotion.Question) string {
	for _, b := range q.Branches {
		if len(b) > 0 && b[0] != q.Ref {
			return b[0]
		}
	}
	return ""
}

// commitsOf returns the commits whose records a decision needs: those that are newer than the
// present one, and the present one. If commits must soak, those before are needed as well: the
// publishers may have gone back to them.
func commitsOf(q promotion.Question) []string {
	newer := []string{q.Ref}
	var all []string
	for _, b := range q.Branches {
		all = append(all, b...)
		if i := slices.Index(b, q.Ref); i >= 0 {
			b = b[:i]
		}
		newer = append(newer, b...)
	}
	if len(newer) > 1 && q.SoakTime > 0 {
		return append(newer[:1], all...)
	}
	return newer
}

// branches asks for the commits of the publishers' branches. It returns why there are none, or
// notes that they are not known.
func (a *asker) branches(ctx context.Context, s *subscriber) (hold string) {
	type head struct {
		of     *saas.Target
		commit string
	}
	var all []head
	isNew := false
	for _, p := range a.publishers(s.target()) {
		if p.Template.URL != s.target().Template.URL {
			return fmt.Sprintf("the publisher %s deploys another repository, %s", p.Label(), p.Template.URL)
		}
		commit, err := a.head(p)
		if err != nil {
			s.unknown = err
			return ""
		}
		if !slices.ContainsFunc(all, func(h head) bool { return h.commit == commit }) {
			all = append(all, head{p, commit})
		}
		isNew = isNew || commit != s.q.Ref
	}
	for _, h := range all {
		commits := []string{h.commit}
		if isNew && (s.q.Rule == promotion.Newest || len(all) > 1) {
			var err error
			if commits, err = a.log(ctx, h.of.Template, h.commit); err != nil {
				s.unknown = err
				return ""
			}
		}
		s.q.Branches = append(s.q.Branches, commits)
	}
	return ""
}

// A window says when a promotion may begin, not when it must be through. What began may not be in a
// merge request yet: the open one of its component is left alone for some time, or half of it is
// tried, or the checks failed. So it is remembered until the data have it, it may not be any more,
// or another one begins.

// hasWindow reports whether a subscriber may be promoted at some times alone.
func (s *subscriber) hasWindow() bool {
	return s.q.Schedule != "" && s.q.Schedule != schedule.Always
}

// begins notes the promotions of a component that began in a window.
func (m *memory) begins(in ownSettings, c *component) {
	var out []entry
	for _, s := range c.subscribers {
		if !s.hasWindow() {
			continue
		}
		old, has := find(m.Begun, s.entry(in, s.d))
		still, ok, err := s.goesOn(in, old)
		switch {
		case has && (s.isUnknown() || err != nil):
			out = append(out, old)
		case s.differs(s.d):
			out = append(out, s.entry(in, s.d))
		case ok:
			out = append(out, still)
		}
	}
	m.Begun = out
}

// goesOn returns a promotion that began in a window as it is now, and whether it may go on. With
// an error it is not known.
func (s *subscriber) goesOn(in ownSettings, begun entry) (entry, bool, error) {
	if begun.Ref == "" || s.isUnknown() || s.q.Rule == promotion.Head && begun.Ref != s.d.Candidate &&
		begun.Ref != s.q.Ref {
		return entry{}, false, nil
	}
	still, ok := promotion.Still(s.q, begun.Ref)
	return s.entry(in, still), ok, still.Err
}

// closedByPerson forgets what began and was shown by a merge request that a person closed: it is not wanted until a
// person takes that back.
func (k *keeper) closedByPerson(p services.MergeRequest) {
	b, _ := readBlock(p.Description)
	isClosed := func(e entry) bool {
		is, shown := find(b.Entries, e)
		began, has := find(k.memory.Begun, e)
		return shown && has && is.Ref == e.Ref && began.Ref == e.Ref
	}
	k.wants = slices.DeleteFunc(slices.Clone(k.wants), isClosed)
	k.memory.Begun = slices.DeleteFunc(slices.Clone(k.memory.Begun), isClosed)
}

// find returns the entry about the same target.
func find(list []entry, of entry) (entry, bool) {
	i := slices.IndexFunc(list, of.isSame)
	if i < 0 {
		return entry{}, false
	}
	return list[i], true
}

// isUnknown reports whether nobody knows what a subscriber may be promoted to.
func (s *subscriber) isUnknown() bool {
	return s.unknown != nil || s.d.Err != nil && !s.differs(s.d)
}
