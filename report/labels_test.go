package report_test

import (
	"reflect"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

func TestNeededLabels(t *testing.T) {
	require := map[plan.EffectKind]string{plan.EffectDelete: "deletions", plan.EffectChange: "changes",
		plan.EffectCreate: "changes"}
	item := func(kind plan.EffectKind, since plan.Since) *plan.Effects {
		return &plan.Effects{Items: []plan.Effect{{Kind: kind, Subject: "x", Since: since}}}
	}
	none := &plan.Effects{}
	unlooked := func(what plan.UnlookedKind) []*plan.Effects {
		return []*plan.Effects{none,
			{Unlooked: []plan.Unlooked{{Part: "north", What: what, Entries: 2, Why: "nobody answers"}}}}
	}
	for _, c := range []struct {
		name    string
		effects []*plan.Effects
		want    []report.NeededLabel
	}{
		{"no task", nil, nil},
		{"drift that nobody looked at", unlooked(plan.UnlookedDrift), nil},
		{"removed things that nobody looked at", unlooked(plan.UnlookedRemoved),
			[]report.NeededLabel{{Label: "deletions", Why: "1 part not looked at, where things may be deleted"}}},
		{"nobody knows anything", unlooked(plan.UnlookedAll), []report.NeededLabel{
			{Label: "deletions", Why: "effects of 1 task unknown"}, {Label: "changes", Why: "effects of 1 task unknown"}}},
		{"a word of a later version", unlooked("all of it"), []report.NeededLabel{
			{Label: "deletions", Why: "effects of 1 task unknown"}, {Label: "changes", Why: "effects of 1 task unknown"}}},
		{"no effect", []*plan.Effects{none, none}, nil},
		{"a kind without a label", []*plan.Effects{none, item(plan.EffectOther, "")}, nil},
		{"a deletion", []*plan.Effects{none, item(plan.EffectDelete, plan.SinceChange)},
			[]report.NeededLabel{{Label: "deletions", Why: "1 to delete"}}},
		{"a deletion that was not compared", []*plan.Effects{item(plan.EffectDelete, "")},
			[]report.NeededLabel{{Label: "deletions", Why: "1 to delete"}}},
		{"a pending deletion", []*plan.Effects{item(plan.EffectDelete, plan.SinceBase)}, nil},
		{"a deletion that is gone", []*plan.Effects{item(plan.EffectDelete, plan.SinceGone)}, nil},
		{"only counted", []*plan.Effects{{Beyond: map[plan.EffectKind]int{plan.EffectDelete: 3}}},
			[]report.NeededLabel{{Label: "deletions", Why: "3 to delete"}}},
		{"one label for two kinds", []*plan.Effects{item(plan.EffectChange, ""), item(plan.EffectCreate, "")},
			[]report.NeededLabel{{Label: "changes", Why: "1 to create, 1 to change"}}},
		{"one unknown", []*plan.Effects{item(plan.EffectCreate, ""), {Unknown: "the task failed"}}, []report.NeededLabel{
			{Label: "deletions", Why: "effects of 1 task unknown"},
			{Label: "changes", Why: "1 to create, effects of 1 task unknown"}}},
		{"looked at one of two", []*plan.Effects{none, nil}, []report.NeededLabel{
			{Label: "deletions", Why: "effects of 1 task unknown"}, {Label: "changes", Why: "effects of 1 task unknown"}}},
		{"nobody looked", []*plan.Effects{nil}, []report.NeededLabel{{Label: "deletions", Why: "nobody looked for effects"},
			{Label: "changes", Why: "nobody looked for effects"}}},
	} {
		p, rs := newEffectsPlan(c.effects)
		p.Require = require
		if got := report.New(p, rs).Effects.Labels; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		p.Require = nil
		if got := report.New(p, rs).Effects.Labels; got != nil {
			t.Errorf("%s: got %+v without a setting", c.name, got)
		}
	}
}
