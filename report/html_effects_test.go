package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// newEffectfulPlan returns a plan of some integrations, one task of which announces the effects of a native: changed
// fields, their places in the data, and how they are known.
func newEffectfulPlan(integrations, effects int) (*plan.Plan, *plan.Results, *report.Contents) {
	p, r := newLargePlan(integrations, integrations)
	contents := &report.Contents{Datafiles: map[string][]report.Field{}}
	for i := range r.Results {
		r.Results[i].Effects = &plan.Effects{}
	}
	for _, d := range p.Changes.Datafiles {
		for _, pointer := range d.Fields {
			contents.Datafiles[d.Path] = append(contents.Datafiles[d.Path], report.Field{Pointer: pointer, Kind: plan.Modified,
				Old: "1", New: "2"})
		}
	}
	for i := range effects {
		file := p.Changes.Datafiles[i%len(p.Changes.Datafiles)]
		all := r.Results[i%len(r.Results)].Effects
		kind := plan.EffectKinds()[i%3]
		name := fmt.Sprintf("thing-%d", i)
		all.Items = append(all.Items, plan.Effect{Kind: kind, Type: fmt.Sprintf("Example.Cache/kind%d", i%7),
			Name: name, Subject: "/subscriptions/s1/resourcegroups/shop/providers/example.cache/" + name,
			Target: "https://api.example.org", Part: "/subscriptions/s1", Since: plan.SinceChange,
			Cause: []plan.Cause{{Place: plan.Place{File: file.Path, Pointer: file.Fields[i%len(file.Fields)],
				Path: "data" + file.Path, Line: i%90 + 1}, What: plan.CauseChanged}},
			Changes: []plan.FieldChange{{Path: fmt.Sprintf("/properties/sku/capacity%d", i%5), Old: json.RawMessage("1"),
				New: json.RawMessage(`"two"`)}, {Path: "/tags/owner", New: json.RawMessage(`"team-a"`)}},
			Known: plan.Known{How: plan.KnownData, Why: "it needs a state"}})
	}
	return p, r, contents
}

// The page of a large change stays small.
func TestEffectsStaySmall(t *testing.T) {
	for _, c := range []struct{ integrations, effects, most int }{{80, 500, 700_000}, {350, 5000, 3_000_000}} {
		p, r, contents := newEffectfulPlan(c.integrations, c.effects)
		text := renderPage(t, p, r, contents)
		checkPage(t, text)
		t.Logf("%d effects: %d bytes", c.effects, len(text))
		if len(text) > c.most {
			t.Errorf("the page with %d effects has %d bytes, more than %d", c.effects, len(text), c.most)
		}
		if n := strings.Count(text, `" id="e`); n != c.effects {
			t.Errorf("the page has %d of %d effects", n, c.effects)
		}
	}
}

// A million changes of one effect, and thirty changes of each of 2,000, leave the page small; what is left out is counted.
func TestManyFieldsAreCounted(t *testing.T) {
	p, r, _ := newEffectfulPlan(20, 2000)
	for i := range r.Results {
		for j := range r.Results[i].Effects.Items {
			e := &r.Results[i].Effects.Items[j]
			for n := range 30 {
				e.Changes = append(e.Changes, plan.FieldChange{Path: fmt.Sprintf("/properties/some/longer/path/%d", n),
					Old: json.RawMessage(`"` + strings.Repeat("x", 200) + `"`), New: json.RawMessage(`"new"`)})
			}
		}
	}
	huge := &r.Results[0].Effects.Items[0]
	for n := range 1_000_000 {
		huge.Changes = append(huge.Changes, plan.FieldChange{Path: fmt.Sprint("/", n), New: json.RawMessage("1")})
	}
	text := renderPage(t, p, r, nil)
	if len(text) > 3<<20 || !strings.Contains(text, "and 999982 more fields") {
		t.Errorf("the page has %d bytes, or does not count the fields that it leaves out", len(text))
	}
}

// Effects that are alike are folded behind the first of them, and deletions never are.
func TestAlikeEffectsAreFolded(t *testing.T) {
	p, r, _ := newEffectfulPlan(10, 0)
	for i := range 130 {
		kind := plan.EffectChange
		if i%2 == 0 {
			kind = plan.EffectDelete
		}
		r.Results[0].Effects.Items = append(r.Results[0].Effects.Items, plan.Effect{Kind: kind, Type: "cache",
			Name: fmt.Sprint(i), Subject: fmt.Sprint("cache ", i), Since: plan.SinceChange,
			Known:   plan.Known{How: plan.KnownLive},
			Changes: []plan.FieldChange{{Path: "/size", Old: json.RawMessage("1"), New: json.RawMessage("2")}}})
	}
	text := renderPage(t, p, r, nil)
	if !strings.Contains(text, "62 more like these: change cache, /size") {
		t.Error("effects that are alike are not folded")
	}
	if strings.Contains(text, "like these: delete") {
		t.Error("deletions are folded")
	}
	if n := strings.Count(text, `" id="e`); n != 130 {
		t.Errorf("got %d of 130 effects", n)
	}
}

// The changed line leads to the effect, and back.
func TestEffectsLinkBothWays(t *testing.T) {
	p, r, contents := newEffectfulPlan(10, 3)
	text := renderPage(t, p, r, contents)
	for _, want := range []string{
		`<a href="#file-1-field-1">0.yml:1</a><small>data/files/</small>`, // from the effect to the line, with its values
		`<del>1</del><ins>2</ins>`,
		`<strong>Leads to</strong> <a href="#e1">delete thing-0</a>`,              // and back
		`<a href="#integration-integration-0000">`,                                // to the integration
		`<a href="#effects" data-sift="&#34;integration-0000&#34;">3 effects</a>`, // and back
		`From the data alone: it needs a state.`,
		`<th scope=row>/tags/owner<td><del>none</del> → <ins>team-a</ins>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// A value of a secret is on no page, even if a document has it.
func TestEffectsHideSecrets(t *testing.T) {
	p, r, _ := newEffectfulPlan(10, 0)
	r.Results[0].Effects.Items = []plan.Effect{{Kind: plan.EffectChange, Name: "vault", Subject: "vault",
		Known: plan.Known{How: plan.KnownLive}, Changes: []plan.FieldChange{{Path: "/password", Secret: true,
			Old: json.RawMessage(`"canary-1"`), New: json.RawMessage(`"canary-2"`)}}}}
	text := renderPage(t, p, r, nil)
	if strings.Contains(text, "canary") || !strings.Contains(text, "<th scope=row>/password<td> a secret, not shown") {
		t.Error("the page shows a secret, or does not say that one changes")
	}
}
