package report

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// Bounds of the effects on the page.
const (
	maxPageEffects = 6000     // effects
	maxRowItems    = 20       // effects in one row
	maxOpenItems   = 80       // effects that are elements from the start; a script makes the others when they are wanted
	maxAlikeItems  = 20       // effects that are alike and stand unfolded
	firstAlike     = 3        // effects that stand before the fold of those that are like them
	maxPageFields  = 50       // fields of one effect
	maxEffectBytes = 2200_000 // of all effects
	minFieldBytes  = 200_000  // of the fields of all effects
	maxFileEffects = 4        // effects to which a changed file links
	maxPlaceValue  = 120      // bytes of the value of a changed place
)

// An effectsView is what the tasks would do, as the page shows it: from the changed line over the integration
// to the effect.
type effectsView struct {
	Summary  string
	Sources  string // how the effects are known
	Note     string // for which integrations nobody looked
	Labels   []NeededLabel
	Kinds    []kindChoice
	Parts    []effectPart
	Count    int // effects on the page
	More     int // effects that are left out
	Gaps     []gapRow
	MoreGaps int
	Live     bool // more come in while the page is shown
}

// A kindChoice is a button of the filter.
type kindChoice struct {
	Kind  string
	Count int
}

// An effectPart is a run of rows. Those that come later are made by the script when they are wanted, and stand
// there without one.
type effectPart struct {
	Later bool
	Rows  []*effectRow
}

// An effectRow is one changed place, an integration that reads it, and what happens because of it.
type effectRow struct {
	Place       value  // the changed line
	Folder      string // of the place
	Pointer     string
	Old, New    string // of the place, if they are known
	HasOld      bool
	HasNew      bool
	Says        string // what is known instead of a place, or besides it
	Integration value
	Where       string // the tasks, if they are not the integration alone
	In          string // the part and the target
	How         string // how the effects are known
	Items       []*effectItem
	Group       int    // of rows that are alike; 0 for none
	Folded      bool   // of a group, and not the first of them
	Alike       string // what a fold holds that follows the row
}

// An effectItem is one effect.
type effectItem struct {
	ID, Kind, Class string
	Name            string
	Remarks         string
	Subject, Text   string
	Open, Bare      bool // it is open; there is nothing to open
	Fields          []effectField
	MoreFields      int
	Count           int
}

// An effectField is one field of a thing, with its values as people read them.
type effectField struct{ Path, Old, New, Note string }

// A gapRow is a task of which something is not known.
type gapRow struct{ Task, Title, Reason string }

// newEffectsView returns the effects of a report, or nil if there is no task. It links the changed files to
// their effects.
func (x *fileIndex) newEffectsView(rep *Report) *effectsView {
	e := rep.Effects
	if e.Tasks == 0 {
		return nil
	}
	v := &effectsView{Summary: startSentence(e.Summary), Note: startSentence(e.UnlookedNote(cleanLine)), Labels: e.Labels,
		Sources: e.Sources()}
	v.More = max(0, len(e.Groups)-maxPageEffects)
	groups := e.Groups[:len(e.Groups)-v.More]
	v.Count = len(groups)
	for _, kind := range plan.EffectKinds() {
		isOf := func(g EffectGroup) bool { return itemClass(g) == string(kind) }
		if n := countIf(groups, isOf); n > 0 {
			v.Kinds = append(v.Kinds, kindChoice{string(kind), n})
		}
	}
	b := effectBuilder{files: x, rep: rep, room: maxEffectBytes, open: map[string]*effectRow{}}
	b.build(groups)
	b.fill()
	v.Parts = divideRows(b.rows)
	for _, list := range e.GapLists() {
		for _, gap := range list.Gaps {
			v.Gaps = append(v.Gaps, gapRow{visibleText(gap.Name()), list.Title, cleanLine(gap.Reason)})
		}
	}
	v.MoreGaps = max(0, len(v.Gaps)-maxFailures)
	v.Gaps = v.Gaps[:len(v.Gaps)-v.MoreGaps]
	return v
}

// countIf returns how many groups a condition holds for.
func countIf(groups []EffectGroup, holds func(EffectGroup) bool) (n int) {
	for _, g := range groups {
		if holds(g) {
			n++
		}
	}
	return n
}

// divideRows divides rows into those that stand on the page and those that a script makes when they are wanted.
func divideRows(rows []*effectRow) []effectPart {
	var out []effectPart
	items := 0
	for _, r := range rows {
		later := r.Folded || items >= maxOpenItems
		if len(out) == 0 || out[len(out)-1].Later != later {
			out = append(out, effectPart{Later: later})
		}
		last := &out[len(out)-1]
		last.Rows = append(last.Rows, r)
		if !later {
			items += len(r.Items)
		}
	}
	return out
}

// An effectBuilder makes the rows of effects, in their order.
type effectBuilder struct {
	files  *fileIndex
	rep    *Report
	rows   []*effectRow
	open   map[string]*effectRow // the last row of a place, by its head
	room   int                   // bytes left
	made   []madeItem            // so far
	groups int                   // of effects that are alike
}

// A madeItem is an effect on the page, with what is known of it.
type madeItem struct {
	*effectItem
	of EffectGroup
}

// build adds all effects. Many effects that are alike stand together, and all but the first are folded; deletions
// never are.
func (b *effectBuilder) build(groups []EffectGroup) {
	alike := map[string][]EffectGroup{}
	for _, g := range groups {
		alike[likeness(g)] = append(alike[likeness(g)], g)
	}
	for _, g := range groups {
		switch all, isOpen := alike[likeness(g)]; {
		case isOpen && (g.Kind == plan.EffectDelete || len(all) <= maxAlikeItems):
			b.add(g, 0, false)
		case isOpen:
			b.addAlike(all)
			delete(alike, likeness(g)) // the others stand there now
		}
	}
}

// addAlike adds effects that are alike.
func (b *effectBuilder) addAlike(all []EffectGroup) {
	b.groups++
	var last *effectRow
	for _, g := range all[:firstAlike] {
		last = b.add(g, b.groups, false)
	}
	last.Alike = fmt.Sprintf("%d more like these: %s", len(all)-firstAlike, alikeText(all[0]))
	for _, g := range all[firstAlike:] {
		b.add(g, b.groups, true)
	}
}

// likeness returns a text that is the same for effects that are alike: those of one task, type, kind and fields.
func likeness(g EffectGroup) string {
	words := []string{g.Where(), string(g.Kind), g.Type, string(g.Since), g.Action}
	if g.Type == "" && len(g.Changes) == 0 { // a line of a program
		first, _, _ := strings.Cut(g.Subject, " ")
		words = append(words, first)
	}
	for _, c := range g.Changes[:min(len(g.Changes), maxPageFields)] {
		words = append(words, c.Path)
	}
	return strings.Join(words, "\x00")
}

// alikeText says what effects have in common that are alike.
func alikeText(g EffectGroup) string {
	text := strings.TrimSpace(string(g.Kind) + " " + g.Type)
	if len(g.Changes) > 0 {
		text += ", " + g.Changes[0].Path
		if more := len(g.Changes) - 1; more > 0 {
			text += " and " + phrase.Count(more, "more field")
		}
	}
	return cleanLine(text)
}

// add adds one effect to the row of its place, or to a new one.
func (b *effectBuilder) add(g EffectGroup, group int, folded bool) *effectRow {
	key := strings.Join([]string{g.Where(), g.Places(), b.rep.LineOf(g), g.Part, g.Target, string(g.Known), g.Why,
		fmt.Sprint(group, folded)}, "\x00")
	row := b.open[key]
	if row == nil || len(row.Items) == maxRowItems {
		row = b.newRow(g)
		row.Group, row.Folded = group, folded
		b.open[key] = row
		b.rows = append(b.rows, row)
	}
	item := b.newItem(g)
	row.Items = append(row.Items, item)
	b.files.linkEffect(g, value{Text: cleanLine(item.Kind + " " + cmp.Or(g.Name, item.Name)), Href: "#" + item.ID})
	return row
}

// newRow returns a row without effects.
func (b *effectBuilder) newRow(g EffectGroup) *effectRow {
	row := &effectRow{Integration: value{Text: visibleText(g.Integration), Href: "#" + anchor(g.Integration)},
		In: cleanLine(joinNonEmpty(" at ", g.Part, g.Target))}
	if where := g.Where(); where != g.Integration {
		row.Where = cleanLine(strings.TrimPrefix(strings.TrimPrefix(where, g.Integration), "/"))
	}
	switch g.Known {
	case plan.KnownData:
		row.How = "From the data alone: " + cmp.Or(cleanLine(g.Why), "nobody asked the target") + "."
	case plan.KnownLive:
		row.How = "The target was asked."
	case plan.KnownRemembered:
		row.How = startSentence(cmp.Or(cleanLine(g.Why), "from an earlier run")) + "."
	default:
		row.How = "As the program says."
	}
	switch causes := b.rep.integration(TaskResult{Integration: g.Integration}).Causes; {
	case len(g.Cause) > 0:
		b.files.describePlace(row, g)
	case g.CauseUnknown != "":
		row.Says = cleanLine(g.CauseUnknown)
	case g.Since == plan.SinceBase:
		row.Says = "No line of this change: pending on base."
	case g.Since == plan.SinceGone || g.Known != "":
		row.Says = "No changed line is known."
	case len(causes) > 0:
		row.Says = "woke the task"
		row.Place = b.files.linkPaths([]string{causes[0].Path})[0]
	default:
		row.Says = "No changed line is known."
	}
	b.room -= len(row.Place.Text) + len(row.Folder) + len(row.Pointer) + len(row.Old) + len(row.New) + len(row.Says) +
		2*len(row.Integration.Text) + len(row.Where) + len(row.In) + len(row.How) + 190
	return row
}

// describePlace fills in the changed place that leads to an effect. Other places are named.
func (x *fileIndex) describePlace(row *effectRow, g EffectGroup) {
	at := g.Cause[0]
	row.Place = value{Text: visibleText(path.Base(at.Where()))}
	row.Folder = cleanLine(strings.TrimSuffix(at.Where(), path.Base(at.Where())))
	row.Pointer = cleanLine(at.Pointer)
	if i, ok := x.byPath[at.File]; ok {
		row.Place.Href = "#" + x.files[i].ID
		if n, ok := x.fieldByPointer[at.File][at.Pointer]; ok {
			f := x.files[i].Fields[n]
			row.Place.Href = "#" + f.ID
			row.Old, row.New = phrase.Cut(cleanLine(f.Old), maxPlaceValue), phrase.Cut(cleanLine(f.New), maxPlaceValue)
			row.HasOld, row.HasNew = f.HasOld, f.HasNew
		}
	}
	if !row.HasOld && !row.HasNew && at.What != "" {
		row.Says = string(at.What)
	}
	g.Cause = g.Cause[1:]
	if others := g.Places(); others != "" {
		row.Says = joinNonEmpty("; ", row.Says, "also "+cleanLine(others))
	}
}

// newItem returns one effect without its fields.
func (b *effectBuilder) newItem(g EffectGroup) *effectItem {
	known := g
	known.Known = "" // the row says it
	item := &effectItem{ID: fmt.Sprintf("e%d", b.files.effectsBefore+len(b.made)+1), Kind: cleanLine(string(g.Kind)),
		Class: itemClass(g), Name: cmp.Or(cleanLine(g.What()), "(nothing visible)"), Count: g.Count,
		Remarks: cleanLine(known.Remarks())}
	b.room -= len(item.Name) + len(item.Remarks) + 120
	b.made = append(b.made, madeItem{item, g})
	return item
}

// fill adds to the effects their fields, deletions first, and then what else is known of them, as far as there is
// room.
func (b *effectBuilder) fill() {
	b.room = max(b.room, minFieldBytes)
	for _, m := range b.made {
		for _, c := range m.of.Changes[:min(len(m.of.Changes), maxPageFields)] {
			f := newEffectField(c)
			if b.room -= len(f.Path) + len(f.Old) + len(f.New) + len(f.Note) + 50; b.room < 0 {
				break
			}
			m.Fields = append(m.Fields, f)
		}
		m.MoreFields = len(m.of.Changes) + m.of.ChangesBeyond - len(m.Fields)
	}
	for _, m := range b.made {
		if subject := cleanLine(m.of.Subject); m.of.Name != "" && b.room > len(subject) {
			m.Subject = subject
			b.room -= len(subject) + 10
		}
		if text := cleanLine(m.of.Text); m.of.Text != m.of.Subject && b.room > len(text) {
			m.Text = text
			b.room -= len(text) + 10
		}
		isAsked := m.of.Kind == plan.EffectDelete || m.of.Kind == plan.EffectChange
		m.Bare = len(m.Fields)+len(m.Text)+len(m.Subject) == 0 && m.MoreFields <= 0
		m.Open = isAsked && !m.Bare
	}
}

// newEffectField returns what a field becomes.
func newEffectField(c plan.FieldChange) effectField {
	f := effectField{Path: cmp.Or(cleanLine(c.Path), "(the whole)"), Note: cleanLine(c.Reason)}
	switch {
	case c.Secret:
		f.Note = "a secret, not shown"
	case c.Old != nil || c.New != nil:
		f.Old, f.New = showValue(c.Old), showValue(c.New)
	}
	return f
}

// itemClass returns the CSS class of an effect, which is its kind as far as the filter knows it.
func itemClass(g EffectGroup) string {
	switch {
	case g.Since == plan.SinceGone || !g.Kind.IsValid():
		return string(plan.EffectOther)
	default:
		return string(g.Kind)
	}
}

// linkEffect adds to the changed files that lead to an effect a link to it.
func (x *fileIndex) linkEffect(g EffectGroup, link value) {
	var files []int
	for _, at := range g.Cause {
		if i, ok := x.byPath[at.File]; ok && !slices.Contains(files, i) {
			files = append(files, i)
		}
	}
	for _, i := range files {
		f := &x.files[i]
		if len(f.Effects) < maxFileEffects {
			f.Effects = append(f.Effects, link)
		} else {
			f.MoreEffects++
		}
	}
	x.effectsOf[g.Integration]++
}
