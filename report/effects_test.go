package report_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// effectResults returns results with every kind of effect, with unknown effects, and with
// a task at which nobody looked.
func effectResults(p *plan.Plan) *plan.Results {
	rs := passedResults(p)
	rs.Results[0] = plan.Result{Task: "new-thing", Status: plan.NotRun, Class: plan.ClassConfig,
		Reason: p.Tasks[0].Blocked, ExitCode: -1}
	rs.Results[1].Effects = &plan.Effects{Compared: true, Items: []plan.Effect{
		{Kind: plan.EffectCreate, Subject: "user ana", Since: plan.SinceChange},
		{Kind: plan.EffectDelete, Subject: "user <b>joe</b>", Since: plan.SinceChange},
		{Kind: plan.EffectDelete, Subject: "key of jane", Since: plan.SinceBase, Times: 2},
		{Kind: plan.EffectOther, Subject: "mail to ana", Since: plan.SinceGone},
	}}
	rs.Results[2].Effects = &plan.Effects{
		Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: "user <b>joe</b>", Since: plan.SinceChange},
			{Kind: plan.EffectChange, Subject: "@all|`x`"}},
		Beyond: map[plan.EffectKind]int{plan.EffectCreate: 300}, Uncompared: "the budget for runs on base is spent",
		Problems: []string{"line 3 is no JSON"},
	}
	return rs
}

func TestEffectsGolden(t *testing.T) {
	p := change(t)
	rep := report.New(p, effectResults(p))
	findings := report.Input{Plan: p, Report: rep}
	for name, render := range map[string]func(io.Writer) error{
		"effects.txt":       func(w io.Writer) error { return report.Text(w, rep, report.Style{}) },
		"effects.color":     func(w io.Writer) error { return report.Text(w, rep, report.Style{Color: true}) },
		"effects.md":        func(w io.Writer) error { return report.Markdown(w, rep) },
		"effects.json":      func(w io.Writer) error { return report.JSON(w, rep) },
		"effects.junit":     func(w io.Writer) error { return report.JUnit(w, findings) },
		"effects.metrics":   func(w io.Writer) error { return report.Metrics(w, findings) },
		"effects.terraform": func(w io.Writer) error { return report.Terraform(w, findings) },
		"effects.html":      func(w io.Writer) error { return report.HTML(w, report.Page{Plan: p, Report: rep}) },
	} {
		t.Run(name, func(t *testing.T) { compareGolden(t, name, render) })
	}
}

// compareGolden compares what render writes with a golden file.
func compareGolden(t *testing.T, name string, render func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := render(&got); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
	}
}

// newEffectsPlan returns a plan with one task for each of the effects, and results with them.
func newEffectsPlan(all []*plan.Effects) (*plan.Plan, *plan.Results) {
	p, rs := &plan.Plan{}, &plan.Results{}
	for i, e := range all {
		id := fmt.Sprint("t", i)
		p.Tasks = append(p.Tasks, plan.Task{ID: id, Integration: "x"})
		rs.Results = append(rs.Results, plan.Result{Task: id, Status: plan.Passed, Attempts: 1, Effects: e})
	}
	return p, rs
}

// TestEffectsSummary checks the words of headlines: nothing unknown may look like no effect.
func TestEffectsSummary(t *testing.T) {
	item := func(kind plan.EffectKind, since plan.Since) plan.Effect {
		return plan.Effect{Kind: kind, Subject: "x", Since: since}
	}
	none, create := &plan.Effects{}, &plan.Effects{Items: []plan.Effect{item(plan.EffectCreate, "")}}
	failed := &plan.Effects{Unknown: "the task failed"}
	for _, c := range []struct {
		name    string
		effects []*plan.Effects
		want    string
	}{
		{"nobody looked", []*plan.Effects{nil, nil}, ""},
		{"looked at both, and none", []*plan.Effects{none, none}, "no effects announced"},
		{"looked at one, and none", []*plan.Effects{none, nil}, "effects of 1 task unknown"},
		{"one failed", []*plan.Effects{none, failed}, "effects of 1 task unknown"},
		{"all failed", []*plan.Effects{failed, failed}, "effects of 2 tasks unknown"},
		{"some, and one failed", []*plan.Effects{create, failed}, "1 to create (not compared with main), effects of 1 task unknown"},
		{"all kinds",
			[]*plan.Effects{create,
				{Items: []plan.Effect{item(plan.EffectDelete, ""), item(plan.EffectChange, "new"), item(plan.EffectOther, "")}}},
			"1 to create, 1 to change, 1 to delete, 1 other (3 of them not compared with main)"},
		{"only drift",
			[]*plan.Effects{none,
				{Compared: true, Items: []plan.Effect{item(plan.EffectDelete, plan.SinceBase),
					item(plan.EffectCreate, plan.SinceBase)}}},
			"2 already pending on base (1 to delete)"},
		{"taken back", []*plan.Effects{none, {Compared: true, Items: []plan.Effect{item(plan.EffectDelete, plan.SinceGone)}}},
			"no effects announced, 1 no longer announced"},
		{"too many to keep", []*plan.Effects{none, {Beyond: map[plan.EffectKind]int{plan.EffectDelete: 7}}},
			"7 to delete (not compared with main)"},
		{"a kind of a later version", []*plan.Effects{none, {Items: []plan.Effect{item("rename", "")}}},
			"1 other (not compared with main)"},
	} {
		p, rs := newEffectsPlan(c.effects)
		rep := report.New(p, rs)
		if rep.Effects.Summary != c.want {
			t.Errorf("%s: got %q, want %q", c.name, rep.Effects.Summary, c.want)
		}
	}
}

// TestManyEffects checks that 10,000 effects stay readable, and that no deletion gives way
// to another effect.
func TestManyEffects(t *testing.T) {
	p := change(t)
	rs := passedResults(p)
	for i := range rs.Results {
		e := &plan.Effects{}
		for n := range 2500 {
			kind := plan.EffectCreate
			if n%100 == 99 {
				kind = plan.EffectDelete
			}
			e.Items = append(e.Items, plan.Effect{Kind: kind, Subject: fmt.Sprintf("user-%d-%d", i, n)})
		}
		rs.Results[i].Effects = e
	}
	rep := report.New(p, rs)
	if got := rep.Effects.Counts; got != (report.EffectCounts{Create: 9900, Delete: 100}) {
		t.Errorf("got %+v", got)
	}
	var text, markdown, page bytes.Buffer
	for _, err := range []error{report.Text(&text, rep, report.Style{}), report.Markdown(&markdown, rep),
		report.HTML(&page, report.Page{Plan: p, Report: rep})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range rs.Results {
		last := fmt.Sprintf("user-%d-2499", i)
		if !strings.Contains(text.String(), last) || !strings.Contains(markdown.String(), last) ||
			!strings.Contains(page.String(), last) {
			t.Errorf("the deletion of %s is missing", last)
		}
	}
	if lines := strings.Count(text.String(), "\n"); lines > 200 ||
		!strings.Contains(text.String(), "and 9870 more effects; -v shows them") {
		t.Errorf("got %d lines of text", lines)
	}
	open, folded, _ := strings.Cut(markdown.String(), "<details>")
	if strings.Count(open, "| **delete** |") != 53 || strings.Contains(open, "| create |") ||
		strings.Count(open, "\n") > 60 || !strings.HasPrefix(folded, "<summary>47 more to delete</summary>") {
		t.Errorf("got %s", open)
	}
	if page.Len() > 3<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
}

// TestEffectsOfReusedTasks checks that tasks that were left out count with the effects that
// they had, and that those whose effects the plan does not keep count as unknown.
func TestEffectsOfReusedTasks(t *testing.T) {
	p := reusedPlan(t)
	p.Integrations[0].Evidence.Reused = 5
	p.Integrations[0].Evidence.Passed[0].Effects = &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete,
		Subject: "zone a"}}}
	seal(t, p)
	e := report.New(p, passedResults(p)).Effects
	want := []report.EffectGroup{{Integration: "dns", Kind: plan.EffectDelete, Subject: "zone a", Count: 1,
		Tasks: []string{"dns"}}}
	if !reflect.DeepEqual(e.Groups, want) || e.Summary != "1 to delete (not compared with main), effects of 7 tasks unknown" || e.Tasks != 8 {
		t.Errorf("got %+v, %q, %d tasks", e.Groups, e.Summary, e.Tasks)
	}
	if len(e.Unknown) != 1 || e.Unknown[0].Tasks != 4 ||
		!reflect.DeepEqual(e.Unlooked, []report.UnlookedIntegration{{Integration: "users", Tasks: 3}}) {
		t.Errorf("got unknown %+v, unlooked %+v", e.Unknown, e.Unlooked)
	}
}
