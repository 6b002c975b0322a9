package conformance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
)

var program = flag.String("selector", "", "a program to score beside the others, with its arguments")

// A Selection is what a selector answers. An entry without shards runs in full.
type Selection struct {
	Run []Selected `json:"run"`
}

// A Selected is an integration that runs, in full or on some shards.
type Selected struct {
	Integration string   `json:"integration"`
	Shards      []string `json:"shards,omitempty"`
}

// A selector answers which integrations run for a change.
type selector func(ctx context.Context, r Request) (Selection, error)

// runs reports whether a unit runs: an integration in full or in part, or a shard.
func (s Selection) runs(unit string) bool {
	name, shard, isShard := strings.Cut(unit, "/")
	return slices.ContainsFunc(s.Run, func(got Selected) bool {
		return got.Integration == name && (!isShard || len(got.Shards) == 0 || slices.Contains(got.Shards, shard))
	})
}

// runsWhole reports whether a unit that must run does: an integration in full, or a shard.
func (s Selection) runsWhole(unit string) bool {
	return s.runs(unit) && (strings.Contains(unit, "/") || slices.ContainsFunc(s.Run, func(got Selected) bool {
		return got.Integration == unit && len(got.Shards) == 0
	}))
}

// judge returns what must run and does not, and what runs and must not.
func (c Case) judge(s Selection) (missed, wasted []string) {
	for _, unit := range c.MustRun {
		if !s.runsWhole(unit) {
			missed = append(missed, unit)
		}
	}
	for _, unit := range c.MustNotRun {
		if s.runs(unit) {
			wasted = append(wasted, unit)
		}
	}
	for _, got := range s.Run {
		isListed := func(unit string) bool { name, _, _ := strings.Cut(unit, "/"); return name == got.Integration }
		if !slices.ContainsFunc(slices.Concat(c.MustRun, c.MustNotRun, c.AllowedExtra), isListed) {
			wasted = append(wasted, got.Integration)
		}
	}
	return missed, wasted
}

// A score counts over all cases.
type score struct{ passed, missed, wasted int }

// scoreOf scores a selector. It calls tell for each case that the selector does not pass.
func scoreOf(t *testing.T, requests []Request, cases []Case, of selector, tell func(c Case,
	missed, wasted []string)) score {
	t.Helper()
	var out score
	for i, c := range cases {
		got, err := of(t.Context(), requests[i])
		if err != nil {
			t.Errorf("%q: %v", c.Name, err)
			continue
		}
		missed, wasted := c.judge(got)
		out.missed += len(missed)
		out.wasted += len(wasted)
		if len(missed)+len(wasted) == 0 {
			out.passed++
		} else {
			tell(c, missed, wasted)
		}
	}
	return out
}

func quiet(Case, []string, []string) {}

func readRequests(t *testing.T) ([]Case, []Request) {
	t.Helper()
	cases := readCases(t)
	requests := make([]Request, len(cases))
	for i, c := range cases {
		requests[i] = c.request(t, t.TempDir())
	}
	return cases, requests
}

// TestScore scores all selectors, and holds that prcheck passes all cases, that the naive
// selectors do not, and that the README has these scores.
func TestScore(t *testing.T) {
	cases, requests := readRequests(t)
	table := fmt.Sprintf("%-28s %6s  %6s  %6s\n", "selector", "passed", "missed", "wasted")
	add := func(name string, s score) {
		table += fmt.Sprintf("%-28s  %2d/%2d  %6d  %6d\n", name, s.passed, len(cases), s.missed, s.wasted)
	}
	ours := scoreOf(t, requests, cases, planned(nil), func(c Case, missed, wasted []string) {
		t.Errorf("%q: missed %q, wasted %q: %s", c.Name, missed, wasted, c.Why)
	})
	add("prcheck", ours)
	for _, naive := range []struct {
		name string
		of   selector
	}{{"allowed schemas only", byAllowedSchemas}, {"changed files only", byChangedFiles}} {
		s := scoreOf(t, requests, cases, naive.of, quiet)
		add(naive.name, s)
		if s.passed >= ours.passed {
			t.Errorf("%s passes %d cases, and prcheck %d", naive.name, s.passed, ours.passed)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), table) {
		t.Errorf("README.md does not have these scores:\n%s", table)
	}
	if *program != "" {
		add(*program, scoreOf(t, requests, cases, started(*program), func(c Case, missed, wasted []string) {
			t.Logf("%q: missed %q, wasted %q: %s", c.Name, missed, wasted, c.Why)
		}))
	}
	t.Log("\n" + table)
}

// TestBrokenRungs holds that a planner in which one rung is broken has a lower score: one that
// no longer skips there, and one that skips all that is decided there.
func TestBrokenRungs(t *testing.T) {
	cases, requests := readRequests(t)
	whole := scoreOf(t, requests, cases, planned(nil), quiet)
	skipsNothing := func(d *plan.Decision) { d.Decision = plan.Run }
	skipsAll := func(d *plan.Decision) { d.Decision = plan.Skip }
	for _, c := range []struct {
		rung plan.Rung
		name string
		do   func(*plan.Decision)
	}{
		{plan.RungDefinition, "skips nothing", skipsNothing}, {plan.RungDefinition, "skips all", skipsAll},
		{plan.RungSchema, "skips nothing", skipsNothing}, {plan.RungSchema, "skips all", skipsAll},
		{plan.RungFields, "skips nothing", skipsNothing}, // it only skips
		{plan.RungState, "skips nothing", skipsNothing}, {plan.RungState, "skips all", skipsAll},
		{plan.RungShards, "runs in full", skipsNothing}, {plan.RungShards, "skips all", skipsAll},
	} {
		broken := scoreOf(t, requests, cases, planned(func(d *plan.Decision) {
			if d.Rung == c.rung {
				c.do(d)
			}
		}), quiet)
		if broken.passed >= whole.passed {
			t.Errorf("the rung %s %s, and the score is %+v, with the whole ladder %+v", c.rung, c.name, broken, whole)
		}
	}
}
