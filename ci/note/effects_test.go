package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/ci/note"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

// announce returns results in which all tasks passed, with the effects that each of them
// announces.
func announce(p *plan.Plan, effects func(i int) *plan.Effects) *plan.Results {
	rs := newResultsWith(p, nil)
	for i := range rs.Results {
		rs.Results[i].Effects = effects(i)
	}
	return rs
}

func effects(items ...plan.Effect) *plan.Effects { return &plan.Effects{Items: items} }

// TestRecordedMergeRequests writes the notes of five merge requests. From each note alone
// a reviewer must be able to say what would be created, changed and deleted, and what
// could not be told.
func TestRecordedMergeRequests(t *testing.T) {
	two, three := newPlan(t, 2), newPlan(t, 3)
	failing := announce(three, func(i int) *plan.Effects {
		switch i {
		case 0:
			return effects(plan.Effect{Kind: plan.EffectChange, Subject: "quota of app-prod: 4 to 8 CPU"})
		case 1:
			return &plan.Effects{Unknown: "the task failed"}
		}
		return nil
	})
	one := failed(plan.ClassTask, 1, trace)
	one.Task, one.Attempts, one.Effects = failing.Results[1].Task, 1, failing.Results[1].Effects
	failing.Results[1] = one
	unplanned := announce(two, func(int) *plan.Effects { return nil })
	tests := map[string]struct {
		plan    *plan.Plan
		results *plan.Results
		want    []string
	}{
		"mr-create": {two, announce(two, func(i int) *plan.Effects {
			if i == 1 {
				return effects()
			}
			return effects(plan.Effect{Kind: plan.EffectCreate, Subject: "user ana in org app-sre"},
				plan.Effect{Kind: plan.EffectCreate, Subject: "role dev of ana"},
				plan.Effect{Kind: plan.EffectOther, Subject: "mail to ana@example.com"})
		}), []string{"2 to create, 1 other", "user ana in org app-sre"}},
		"mr-delete": {newPlan(t, 40), announce(newPlan(t, 40), func(i int) *plan.Effects {
			switch {
			case i%20 == 3:
				return effects(plan.Effect{Kind: plan.EffectDelete, Subject: "user joe"},
					plan.Effect{Kind: plan.EffectCreate, Subject: "user ana"})
			case i == 5:
				return effects(plan.Effect{Kind: plan.EffectDelete, Subject: "['delete', 'app-prod', 'Secret', 'db']"})
			}
			return effects()
		}), []string{"**3 to delete**", "user joe", "2 tasks"}},
		"mr-pending": {two, announce(two, func(i int) *plan.Effects {
			e := effects(plan.Effect{Kind: plan.EffectChange, Subject: "plan of db-1: small to large", Since: plan.SinceChange},
				plan.Effect{Kind: plan.EffectDelete, Subject: "snapshot 2019-04", Since: plan.SinceBase},
				plan.Effect{Kind: plan.EffectCreate, Subject: "user eve", Since: plan.SinceGone})
			if e.Compared = i == 0; i == 1 {
				e = &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectCreate, Subject: "alert for db-1"}},
					Uncompared: "the budget for runs on base is spent"}
			}
			return e
		}), []string{"1 to create, 1 to change (1 of them not compared with main), 1 already pending on base (**1 to delete**), " +
			"1 no longer announced"}},
		"mr-unknown": {three, failing, []string{"effects of 2 tasks unknown", "the task failed",
			"no rule finds their effects"}},
		"mr-unlooked": {two, unplanned, []string{"**What they would do is not known**"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := note.Note{Tool: "prcheck", Serial: 2, Commit: head, Links: links(), Plan: test.plan, Results: test.results}
			got := writeBody(t, n, "")
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing", want)
				}
			}
			compareGolden(t, name, got)
		})
	}
}

// TestManyEffects checks that a note with 10,000 effects stays readable, and that deletions
// are the last effects to be left out.
func TestManyEffects(t *testing.T) {
	p := newPlan(t, 80)
	rs := announce(p, func(i int) *plan.Effects {
		e := &plan.Effects{}
		for n := range 125 {
			e.Items = append(e.Items,
				plan.Effect{Kind: plan.EffectCreate,
					Subject: fmt.Sprintf("user-%d-%d of a rather long name in the organization app-sre", i, n)})
		}
		e.Items[7].Kind = plan.EffectDelete
		return e
	})
	n := note.Note{Tool: "prcheck", Serial: 1, Commit: head, Links: links(), Plan: p, Results: rs}
	for _, limit := range []int{0, 100_000, 20_000, 4_000, 1_000} {
		n.Limit = limit
		got := writeBody(t, n, "")
		if !strings.Contains(got, "9920 to create, **80 to delete**") {
			t.Errorf("%d: the title has no numbers", limit)
		}
		open, _, _ := strings.Cut(got, "<details>")
		rows := strings.Count(got, "\n| **delete** |")
		if isOpen := strings.Count(open, "\n| **delete** |"); isOpen < 20 && limit != 4_000 && limit != 1_000 ||
			isOpen > 60 || strings.Count(open, "\n") > 60 || strings.Contains(open, "\n| create |") {
			t.Errorf("%d: %d deletions are open\n%s", limit, isOpen, got)
		}
		if rows < 80 && (limit == 0 || limit >= 20_000) {
			t.Errorf("%d: %d deletions are told\n%s", limit, rows, got)
		}
		if rows < 80 && limit >= 4_000 &&
			!strings.Contains(got, fmt.Sprintf("**And %d more deletions**; [the full report](", 80-rows)) {
			t.Errorf("%d: nothing says that deletions are missing\n%s", limit, got)
		}
		if strings.Contains(got, "\n| create |") &&
			(rows < 80 || !strings.Contains(got, " more effects; [the full report](")) {
			t.Errorf("%d: %d deletions, but other effects; or nothing says that some are missing", limit, rows)
		}
		if size := len(got); limit == 0 && size > 120_000 {
			t.Errorf("the note has %d bytes", size)
		}
	}
}

// TestEffectsOfTheRunBefore checks that the note says what the push before announced.
func TestEffectsOfTheRunBefore(t *testing.T) {
	p := newPlan(t, 2)
	old := note.Note{Tool: "prcheck", Serial: 1, Commit: "aa" + head[2:], Plan: p,
		Results: announce(p, func(int) *plan.Effects {
			return effects(plan.Effect{Kind: plan.EffectDelete, Subject: "x"})
		})}
	before := writeBody(t, old, "")
	now := old
	now.Serial, now.Commit, now.Results = 2, head, announce(p, func(int) *plan.Effects { return effects() })
	if got := writeBody(t, now, before); !strings.Contains(got,
		"Every dry run passed, and announces no effect (`aae1f0c9d27a`: 2 to delete).") {
		t.Errorf("got %s", got)
	}
	now.Results = old.Results
	if got := writeBody(t, now, before); strings.Contains(got, "`aae1f0c9d27a`: ") {
		t.Errorf("got %s", got)
	}
}

// Whatever a change does, the note has at most 60 lines before its first fold, with the verdict, deletions, what a
// person must do, and the first failure.
func TestNoteIsShort(t *testing.T) {
	p := newPlan(t, 80)
	rs := announce(p, func(i int) *plan.Effects {
		e := &plan.Effects{Unlooked: []plan.Unlooked{{Part: fmt.Sprint("p", i), What: plan.UnlookedDrift, Entries: 1,
			Why: "x"}}}
		for n := range 25 {
			e.Items = append(e.Items, plan.Effect{Kind: plan.EffectDelete, Subject: fmt.Sprintf("user-%d-%d", i, n)})
		}
		return e
	})
	for i := range 40 {
		r := &rs.Results[2*i]
		r.Status, r.Class, r.Reason, r.Effects = plan.Failed, plan.ClassTask, fmt.Sprint("exit code ", i+1), nil
		r.Tail = strings.Repeat(fmt.Sprintf("line of %d\n", i), 20)
	}
	for i := range 30 {
		rs.Warnings = append(rs.Warnings, fmt.Sprint("warning ", i))
	}
	n := note.Note{Tool: "prcheck", Serial: 1, Commit: head, Links: links(), Plan: p, Results: rs}
	n.Labels = note.Labels{Needed: []report.NeededLabel{{Label: "reviewed", Why: "1000 to delete"}}, Asked: true,
		Known: true}
	n.Labels.Missing = n.Labels.Needed
	got := writeBody(t, n, "")
	open, _, _ := strings.Cut(got, "<details>")
	if lines := strings.Count(open, "\n"); lines > 60 {
		t.Errorf("%d lines stand before the first fold:\n%s", lines, open)
	}
	at := -1
	for _, want := range []string{"### ❌ prcheck: 40 of 80 tasks did not pass; **1000 to delete** (not compared with main)",
		"| **delete** | `user-1-0`", "**Needs the label `reviewed`**", "- **Look at 40 failures** below.",
		"- not looked at: ", "#### Failures (40)", "failed: exit code 1"} {
		next := strings.Index(open, want)
		if next < at {
			t.Errorf("%q is missing, or stands too early:\n%s", want, open)
		}
		at = next
	}
}
