package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// fixedLines finds each place at line 8 of its file.
type fixedLines struct{ report.Locator }

func (fixedLines) Find(file, _ string) report.Location {
	return report.Location{Path: "data" + file, Line: 8}
}

// ofNative returns an effect as a native announces it.
func ofNative(kind plan.EffectKind, name string, changes ...plan.FieldChange) plan.Effect {
	return plan.Effect{Kind: kind, Subject: "/s1/caches/" + name, Type: "caches", Name: name, Target: "https://a",
		Since: "new", Known: plan.Known{How: plan.KnownData, Why: "nobody answers"}, Changes: changes,
		Cause: []plan.Cause{{Place: plan.Place{File: "/cloud/" + name + ".yml", Pointer: "/body"}, What: plan.CauseChanged}}}
}

// written returns all forms of a report with lines.
func written(t *testing.T, p *plan.Plan, rs *plan.Results) (text, markdown string) {
	t.Helper()
	rep := report.New(p, rs)
	rep.Locate(fixedLines{})
	var out [2]strings.Builder
	if err := report.Text(&out[0], rep, report.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := report.Markdown(&out[1], rep); err != nil {
		t.Fatal(err)
	}
	return out[0].String(), out[1].String()
}

// A reviewer sees what changes from what to what, and the line that leads to it. What is no value, a secret, or
// hostile is shown as such.
func TestFieldsOfEffects(t *testing.T) {
	value := func(text string) json.RawMessage { return json.RawMessage(text) }
	e := &plan.Effects{Compared: true, Items: []plan.Effect{
		ofNative(plan.EffectDelete, "office"),
		ofNative(plan.EffectChange, "sessions", plan.FieldChange{Path: "/sku/capacity", Old: value("1"), New: value("2")},
			plan.FieldChange{Path: "/password", Secret: true},
			plan.FieldChange{Path: "/tags/a|b", New: value(`"<b>@all\u0007"`)}),
		ofNative(plan.EffectChange, "many", plan.FieldChange{Path: "/a", Old: value("null")},
			plan.FieldChange{Path: "/b", Old: value(`"1"`), New: value("1")},
			plan.FieldChange{Path: "/c", Old: value(`"none"`), New: value(`{"x": [1]}`)},
			plan.FieldChange{Path: "/d", New: value(`"` + strings.Repeat("x", 90) + `"`)}),
	}}
	p, rs := newEffectsPlan([]*plan.Effects{e})
	text, markdown := written(t, p, rs)
	for _, want := range []string{"delete  t0  caches office    data/cloud/office.yml:8, from the data alone",
		"\n      /sku/capacity: 1 → 2\n", "\n      /password: a secret, not shown\n", "\n      /tags/a|b: none → <b>@all",
		"\n      /a: null → none\n", "\n      /b: \"1\" → 1\n", "\n      /c: \"none\" → {\"x\":[1]}\n",
		"\n      and 1 more field\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	for _, want := range []string{
		"| **delete** | `caches office` from the data alone |  | `data/cloud/office.yml:8` | `t0` |",
		"`/sku/capacity: 1 → 2`<br>`/password: a secret, not shown`<br>",
		"3 of the effects are known from the data alone: nobody asked the target.",
	} {
		if !strings.Contains(markdown, want) {
			t.Errorf("the note has no %q:\n%s", want, markdown)
		}
	}
	if strings.Contains(text+markdown, "not compared with main") || strings.Contains(text+markdown, "\a") {
		t.Errorf("got\n%s\n%s", text, markdown)
	}
	if at := e.Items[0].Cause[0]; at.Path != "" {
		t.Errorf("the results were changed: %+v", at)
	}
}

// Whatever a change does, a note has at most 60 lines before its first fold, and says in them the verdict, deletions
// and the first failure.
func TestNoteIsShort(t *testing.T) {
	var items []plan.Effect
	for i := range 2000 {
		kind := plan.EffectChange
		if i%4 == 0 {
			kind = plan.EffectDelete
		}
		change := plan.FieldChange{Path: "/a", New: json.RawMessage("1")}
		items = append(items, ofNative(kind, fmt.Sprintf("n%04d", i), change))
	}
	unlooked := make([]plan.Unlooked, 90)
	for i := range unlooked {
		unlooked[i] = plan.Unlooked{Part: fmt.Sprint("p", i), What: plan.UnlookedDrift, Entries: 1, Why: "nobody answers"}
	}
	all := []*plan.Effects{{Items: items, Unlooked: unlooked}, {Items: items[:1]}, nil}
	for n := range 40 {
		all = append(all, &plan.Effects{Unknown: fmt.Sprint("the task failed ", n)})
	}
	p, rs := newEffectsPlan(all)
	for i := 3; i < len(rs.Results); i++ {
		r := &rs.Results[i]
		r.Status, r.Reason = plan.Failed, fmt.Sprint("exit code ", i)
		r.Tail = strings.Repeat(fmt.Sprintf("line of %d\n", i), 20)
	}
	_, markdown := written(t, p, rs)
	open, folded, _ := strings.Cut(markdown, "<details>")
	if n := strings.Count(open, "\n"); n > 60 {
		t.Errorf("got %d lines before the first fold:\n%s", n, open)
	}
	for _, want := range []string{"**501 to delete**", "| **delete** | `caches n0000`", "data/cloud/n0000.yml:8",
		"#### Failures (40)", "failed: exit code 3"} {
		if !strings.Contains(open, want) {
			t.Errorf("there is no %q before the first fold:\n%s", want, open)
		}
	}
	for _, want := range []string{"caches n1996", "line of 3", "Last lines of"} {
		if !strings.Contains(folded, want) {
			t.Errorf("there is no %q in the folds", want)
		}
	}
}
