package saas

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/pyjson"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
)

// A Preview is what the merge of a change would start and promote, as far as the data alone say:
// nobody is asked where branches are, what was deployed, or which gates are open.
type Preview struct {
	Runs       []PreviewLine `json:"runs"`       // by cell
	Promotions []PreviewLine `json:"promotions"` // by target
	Unknown    []PreviewLine `json:"unknown"`    // what cannot be compared, and why
}

// A PreviewLine is one thing that a merge would do.
type PreviewLine struct {
	Subject string     `json:"subject"` // a cell or a target
	Verb    string     `json:"verb"`    // run, held, open, change or drop
	Reasons []string   `json:"reasons"`
	Place   plan.Place `json:"place"`
}

// String returns the line for people.
func (l PreviewLine) String() string {
	return l.Verb + " " + l.Subject + ": " + strings.Join(l.Reasons, "; ")
}

// The verbs of lines. A run that the data hold back is held.
const (
	VerbRun    = "run"
	VerbHeld   = "held"
	VerbOpen   = "open"
	VerbChange = "change"
	VerbDrop   = "drop"
)

// NewPreview compares two models.
func NewPreview(base, head *Model) Preview {
	p := previewer{base: base, head: head, before: map[string]*Target{}, after: map[string]*Target{},
		changed: map[string]bool{}}
	base.eachTarget(func(t *Target) { p.before[t.place()] = t })
	head.eachTarget(func(t *Target) { p.after[t.place()] = t })
	for _, f := range base.Files {
		if of := head.File(f.Name); f.Broken == "" && of != nil && of.Broken != "" {
			p.unknown(f.Name, of.Path, "its cells are held: "+of.Broken)
		}
	}
	for _, c := range head.Cells() {
		p.cell(c)
	}
	head.eachTarget(p.promotion)
	base.eachTarget(func(t *Target) {
		if p.after[t.place()] == nil {
			p.gone(t)
		}
	})
	for _, lines := range [][]PreviewLine{p.out.Runs, p.out.Promotions, p.out.Unknown} {
		slices.SortStableFunc(lines, func(a, b PreviewLine) int {
			return cmp.Or(strings.Compare(a.Subject, b.Subject), strings.Compare(a.Verb, b.Verb))
		})
	}
	return p.out
}

// place identifies a target in one environment.
func (t *Target) place() string { return t.UID() + "/" + t.Env() }

// A previewer makes a preview.
type previewer struct {
	base, head    *Model
	before, after map[string]*Target // by place
	changed       map[string]bool    // places of targets that a run would deploy
	out           Preview
}

func (p *previewer) unknown(subject, file, why string) {
	p.out.Unknown = append(p.out.Unknown, PreviewLine{Subject: subject, Verb: VerbHeld, Reasons: []string{why},
		Place: plan.Place{File: file}})
}

// cell says whether a cell of head would run.
func (p *previewer) cell(c Cell) {
	if c.File.Broken != "" || c.File.Deprecated {
		return
	}
	line := PreviewLine{Subject: c.Key(), Verb: VerbRun, Place: plan.Place{File: c.File.Path}}
	for _, t := range c.Targets {
		why := p.why(t)
		if why == "" {
			continue
		}
		if line.Reasons == nil {
			line.Place = t.Place
		}
		p.changed[t.place()] = true
		line.Reasons = append(line.Reasons, why)
		if held := p.held(t); held != "" {
			line.Verb, line.Reasons = VerbHeld, append(line.Reasons, held)
		}
	}
	if line.Reasons == nil {
		return
	}
	for _, t := range c.Targets {
		if t.Broken != "" {
			line.Verb, line.Reasons = VerbHeld, append(line.Reasons, t.Label()+" is held: "+t.Broken)
		}
	}
	p.out.Runs = append(p.out.Runs, line)
}

// why returns why a target of head would be deployed, "" if it would not.
func (p *previewer) why(t *Target) string {
	old := p.before[t.place()]
	switch {
	case old == nil && p.isUnread(t.Template.File):
		p.unknown(t.Label(), t.Place.File, "base cannot be compared with it")
		return ""
	case old == nil && t.Delete:
		return t.Label() + " is new, and says delete"
	case old == nil:
		return t.Label() + " is new"
	case t.Delete && !old.Delete:
		return t.Label() + " says delete: its objects go"
	case old.Template.File.Deprecated:
		return t.Label() + " is no longer deprecated, unless it runs so already"
	case t.Hash() == old.Hash():
		return ""
	}
	return t.Label() + " changes: " + strings.Join(changes(old, t), ", ")
}

// isUnread reports whether the saas file of base cannot be compared.
func (p *previewer) isUnread(f *File) bool {
	old := p.base.File(f.Name)
	return old != nil && old.Broken != ""
}

// changes returns what differs between the contents of a target.
func changes(old, t *Target) []string {
	before, after := old.Content().(map[string]any), t.Content().(map[string]any)
	keys := map[string]bool{}
	for key := range before {
		keys[key] = true
	}
	for key := range after {
		keys[key] = true
	}
	names := map[string]string{"saas_file_parameters": "parameters of the saas file",
		"rt_parameters":                    "parameters of the template",
		"saas_file_managed_resource_types": "managedResourceTypes",
		"saas_file_managed_resource_names": "managedResourceNames",
		"saas_file_secretparameters":       "secretParameters of the saas file",
		"rt_secretparameters":              "secretParameters of the template"}
	var out []string
	for _, key := range sortedKeys(keys) {
		if string(pyjson.Sorted(before[key])) == string(pyjson.Sorted(after[key])) {
			continue
		}
		name := cmp.Or(names[key], key)
		if key == "ref" {
			name = fmt.Sprintf("ref from %s to %s", short(old.Ref), short(t.Ref))
		}
		out = append(out, name)
	}
	return out
}

// short returns a ref for people.
func short(ref string) string {
	if IsCommit(ref) {
		return ref[:12]
	}
	return ref
}

// held returns why the data hold a target back, "" if they do not.
func (p *previewer) held(t *Target) string {
	if t.Promotion == nil || len(t.Promotion.Subscribe) == 0 || t.Delete {
		return ""
	}
	of := p.head.Component(t)
	switch {
	case slices.Contains(of.Blocked, t.Ref):
		return fmt.Sprintf("the commit %s is blocked", short(t.Ref))
	case slices.Contains(of.Hotfix, t.Ref):
		return ""
	}
	for _, channel := range t.Promotion.Subscribe {
		if len(p.head.Publishers(channel)) == 0 {
			return fmt.Sprintf("no target publishes the channel %s", channel)
		}
	}
	return ""
}

// Findings returns the preview as findings: a run or a promotion is an effect, and what is not
// known is a warning.
func (p Preview) Findings() []integration.Remark {
	var out []integration.Remark
	add := func(l PreviewLine, kind plan.EffectKind, shard, subject string) {
		because := strings.Join(l.Reasons, "; ")
		out = append(out, integration.Remark{Shard: shard,
			Finding: plan.Finding{Severity: plan.SeverityNote, Place: l.Place, Message: because},
			Effect: &plan.Effect{Kind: kind, Subject: subject + ": " + because, Times: 1, Since: plan.SinceChange,
				Known: plan.Known{How: plan.KnownData, Why: "it follows from what the merge changes"}}})
	}
	for _, l := range p.Runs {
		add(l, plan.EffectOther, l.Subject, map[string]string{VerbRun: "run ", VerbHeld: "held run "}[l.Verb]+l.Subject)
	}
	kinds := map[string]plan.EffectKind{VerbOpen: plan.EffectCreate, VerbChange: plan.EffectChange,
		VerbDrop: plan.EffectOther}
	for _, l := range p.Promotions {
		add(l, kinds[l.Verb], "", l.Verb+" promotion of "+l.Subject)
	}
	for _, l := range p.Unknown {
		out = append(out, integration.Remark{Finding: plan.Finding{Severity: plan.SeverityWarning, Place: l.Place,
			Message: "it is not known what the merge starts of " + l.Subject + ": " + strings.Join(l.Reasons, "; ")}})
	}
	return out
}

// promotes reports whether promotions are made for a target.
func (t *Target) promotes() bool {
	return t != nil && t.Promotion != nil && t.Promotion.Auto && len(t.Promotion.Subscribe) > 0 && !t.Disable &&
		!t.Delete &&
		t.Broken == "" && t.Template.File.Broken == "" && !t.Template.File.Deprecated
}

// promotion says what becomes of the promotion of a target of head.
func (p *previewer) promotion(t *Target) {
	old := p.before[t.place()]
	line := PreviewLine{Subject: t.Label(), Place: t.Place}
	switch {
	case t.promotes() && !old.promotes():
		line.Verb, line.Reasons = VerbOpen,
			[]string{"it follows " + strings.Join(t.Promotion.Subscribe, ", ") + " from now on"}
	case !t.promotes() && old.promotes():
		line.Verb, line.Reasons = VerbDrop, []string{notPromoted(t)}
	case t.promotes():
		line.Verb, line.Reasons = VerbChange, p.promotionChanges(old, t)
		if moved := p.publishedCommits(t); len(moved) > 0 {
			if len(line.Reasons) == 0 {
				line.Verb = VerbOpen
			}
			line.Reasons = append(line.Reasons, moved...)
		}
	}
	if len(line.Reasons) > 0 {
		p.out.Promotions = append(p.out.Promotions, line)
	}
}

// notPromoted returns why no promotions are made for a target.
func notPromoted(t *Target) string {
	switch {
	case t.Broken != "" || t.Template.File.Broken != "":
		return "it is held: " + t.Broken + t.Template.File.Broken
	case t.Template.File.Deprecated:
		return "its saas file is deprecated"
	case t.Disable:
		return "it is disabled"
	case t.Delete:
		return "it says delete"
	}
	return "it says no auto promotion any more"
}

// promotionChanges returns what a change does to the promotion of a target.
func (p *previewer) promotionChanges(old, t *Target) []string {
	var out []string
	differ := func(name, before, after string) {
		if before != after {
			out = append(out, fmt.Sprintf("%s from %s to %s", name, orNone(before), orNone(after)))
		}
	}
	differ("ref", short(old.Ref), short(t.Ref))
	differ("subscribe", sortedText(old.Promotion.Subscribe), sortedText(t.Promotion.Subscribe))
	differ("soakDays", fmt.Sprint(old.Promotion.SoakDays), fmt.Sprint(t.Promotion.SoakDays))
	differ("schedule", old.Promotion.Schedule, t.Promotion.Schedule)
	differ("redeployOnPublisherConfigChange", fmt.Sprint(old.Promotion.Redeploy), fmt.Sprint(t.Promotion.Redeploy))
	before, after := p.base.Component(old), p.head.Component(t)
	differ("blockedVersions", sortedText(before.Blocked), sortedText(after.Blocked))
	differ("hotfixVersions", sortedText(before.Hotfix), sortedText(after.Hotfix))
	for _, channel := range t.Promotion.Subscribe {
		if !old.Subscribes(channel) {
			continue
		}
		differ("publishers of "+channel, labels(p.base.Publishers(channel)), labels(p.head.Publishers(channel)))
	}
	return out
}

// publishedCommits returns which commits a target could be promoted to because the change makes a
// publisher deploy them: those that the data name. Where branches go the data do not say. It also
// tells of publishers whose configuration changes, if the target follows that.
func (p *previewer) publishedCommits(t *Target) []string {
	var out []string
	for _, channel := range t.Promotion.Subscribe {
		for _, from := range p.head.Publishers(channel) {
			old := p.before[from.place()]
			switch {
			case old == nil || from.Hash() == old.Hash():
			case from.Ref != old.Ref && IsCommit(from.Ref) && from.Ref != t.Ref:
				out = append(out, fmt.Sprintf("to %s, once %s runs it", short(from.Ref), from.Label()))
			case from.Ref == old.Ref && t.Promotion.Redeploy:
				out = append(out, fmt.Sprintf("with the new configuration of %s, once that runs", from.Label()))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gone tells of a target that head does not have.
func (p *previewer) gone(t *Target) {
	if of := p.head.File(t.Template.File.Name); of != nil && of.Broken != "" {
		return // that was told
	}
	if t.promotes() {
		p.out.Promotions = append(p.out.Promotions, PreviewLine{Subject: t.Label(), Verb: VerbDrop, Place: t.Place,
			Reasons: []string{"it is gone from the data"}})
	}
	if !t.Delete && !t.Disable {
		p.unknown(t.Label(), t.Place.File, "it is gone from the data without delete: true before, so nothing starts, and "+
			"its objects stay")
	}
}

// labels returns the names of targets for people, sorted.
func labels(targets []*Target) string {
	var out []string
	for _, t := range targets {
		out = append(out, t.Label())
	}
	return sortedText(out)
}

// sortedText returns texts as one, sorted.
func sortedText(list []string) string {
	return strings.Join(slices.Sorted(slices.Values(list)), ", ")
}

// orNone returns a text, or a word for none.
func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
