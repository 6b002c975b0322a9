package board_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report/board"
	"github.com/app-sre/prcheck/state/audits"
	"github.com/app-sre/prcheck/state/checks"
	"github.com/app-sre/prcheck/state/loops"
	"github.com/app-sre/prcheck/state/tally"
)

var noon = time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)

func sha(i int) string { return fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))[:40] }

// fleet returns a repository in which something of each kind stands.
func fleet() board.Input {
	pass := func(s integration.PassageState) integration.Passage {
		return integration.Passage{State: s, Ran: 40 * 3600}
	}
	flow := integration.Flow{Source: "https://git.example.com/shop", Stages: []string{"shop/stage", "shop/production"},
		Commits: []integration.Commit{
			{SHA: sha(4), Passes: []integration.Passage{{State: integration.Live, Ran: 8 * 3600},
				{State: integration.Waits, Code: "soak", Why: "it soaks at stage", Until: noon.Add(16 * time.Hour)}}},
			{SHA: sha(3), Passes: []integration.Passage{pass(integration.RanWell), {State: integration.Proposed, Why: "!214"}}},
			{SHA: sha(2), Passes: []integration.Passage{{State: integration.Bad, Why: "crash loop of web"},
				{State: integration.Declined, Why: "by joe"}}},
			{SHA: sha(1), Passes: []integration.Passage{pass(integration.RanWell), pass(integration.Live)}},
		}, More: 3}
	in := board.Input{Now: noon, Of: "shop/data", Forge: "https://gitlab.example.com", Texts: true,
		Checks: []checks.Check{
			{MergeRequest: "shop/data!230", Commit: sha(9), Tasks: 4, Of: 2, Written: noon.Add(-time.Minute),
				Parts: []checks.Part{{Part: 1, Verdict: plan.VerdictPassed, Passed: 2, Delete: 1, Uncompared: 1}}},
			{MergeRequest: "shop/data!229", Commit: sha(8), Tasks: 3, Of: 1, Written: noon.Add(-time.Hour),
				Parts: []checks.Part{{Part: 1, Verdict: plan.VerdictFailed, Passed: 2, Failed: 1, Unknown: 1}}},
		},
		Loops: []loops.Loop{
			{Integration: "generic", Outcome: "done", Ended: noon.Add(-2 * time.Minute), Every: 300,
				Units: []integration.Standing{
					{Key: "/subscriptions/s1", State: "in step", Things: map[string]int{"in step": 41}},
					{Key: "/subscriptions/s2", State: "held", Waits: true, Hold: "2 deletions must be approved",
						Since: noon.Add(-time.Hour), Things: map[string]int{"in step": 3, "held": 2}}}},
			{Integration: "saas-promotions", Outcome: "done", Ended: noon.Add(-time.Minute), Every: 300,
				Flows: []integration.Flow{flow}, Units: []integration.Standing{{Key: "shop/production", State: "open"}}},
			{Integration: "users", Shard: "team-a", Outcome: "failed", Ended: noon.Add(-time.Minute), Every: 60,
				Good: noon.Add(-4 * time.Hour), Errors: []string{"quota of account team-a is 10"}},
			{Integration: "users", Shard: "team-b", Outcome: "done", Ended: noon.Add(-time.Hour), Every: 60},
			{Integration: "users", Shard: "team-c", Outcome: "done", Ended: noon.Add(-time.Minute), Every: 60},
		},
		Audits: map[plan.Rung]plan.AuditCount{plan.RungSchema: {Right: 412}},
		Misses: []audits.Miss{{Integration: "dns", Rung: plan.RungFields, First: noon.Add(-time.Hour), Last: noon,
			Finding: "a line of a task", Remedy: "declare its queries"}},
	}
	for i := range 70 {
		in.Days = append(in.Days, tally.Day{Day: noon.AddDate(0, 0, i-69).Format(time.DateOnly), Runs: 2,
			Integrations: map[string]tally.Count{"users": {Skip: map[plan.Rung]int{plan.RungSchema: 10 + i/7},
				Run: map[plan.Rung]int{plan.RungState: 10 - i/7}, Passed: 5, Flaked: (70 - i) / 20, Seconds: 900}},
			Forecasts: []plan.Forecast{{P50: 60, P90: 90, Took: float64(700 - 8*i)}}})
	}
	return in
}

func page(t *testing.T, in board.Input) string {
	t.Helper()
	var out bytes.Buffer
	if err := board.HTML(&out, board.New(in)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// tasks returns what waits for people as lines.
func tasks(b *board.Board) string {
	var out []string
	for _, t := range b.Tasks {
		out = append(out, t.Kind+" "+t.What+": "+t.Do)
	}
	return strings.Join(out, "\n")
}

func TestBoard(t *testing.T) {
	b := board.New(fleet())
	if want := "3 things fail, 1 loop is late, 2 things wait"; b.Title != want || b.IsGood {
		t.Errorf("got the title %q, want %q", b.Title, want)
	}
	want := `waits a3c468403 to shop/production: !214
fails users, team-a: quota of account team-a is 10
fails check of shop/data!229: 1 task of the change failed; its note says why
waits generic: /subscriptions/s2: 2 deletions must be approved
fails skips of dns at fields: declare its queries; then confirm it
late users, team-b: its rounds come every 60 seconds: see whether it runs`
	want = strings.ReplaceAll(want, "a3c468403", sha(3)[:12])
	if got := tasks(b); got != want {
		t.Errorf("for people: got\n%s\nwant\n%s", got, want)
	}
	if b.Checks[0].Does != "1 to delete (not compared with main)" || b.Checks[0].Status != checks.Running ||
		b.Checks[1].Does != "no new effect is known; of 1 task it is not known" {
		t.Errorf("got the checks %+v", b.Checks)
	}
	var shards []string
	for _, g := range b.Fleets {
		for _, s := range g.Shards {
			shards = append(shards, g.Integration+" "+s.Name+" "+s.State)
		}
	}
	wantShards := "generic /subscriptions/s2 waits; generic /subscriptions/s1 in step; saas-promotions all shards in step; " +
		"users team-a fails; users team-b late; users team-c in step"
	if got := strings.Join(shards, "; "); got != wantShards {
		t.Errorf("got the shards %s", got)
	}
	if len(b.Weeks) != 10 || b.Weeks[9].Runs != 14 || b.Weeks[9].Share() <= b.Weeks[0].Share() {
		t.Errorf("got the weeks %+v", b.Weeks)
	}
	if r := b.Resources[0]; r.Integration != "generic" || r.States["in step"] != 44 || r.States["held"] != 2 {
		t.Errorf("got the resources %+v", b.Resources)
	}
}

// What is not known is told, and nothing known is not nothing.
func TestUnknown(t *testing.T) {
	if b := board.New(board.Input{Now: noon}); b.Title != "Nothing is known yet" || b.IsGood {
		t.Errorf("an empty state: got %q", b.Title)
	}
	good := board.Input{Now: noon, Loops: []loops.Loop{{Integration: "a", Outcome: "done", Ended: noon}}}
	if b := board.New(good); !b.IsGood {
		t.Errorf("got %q", b.Title)
	}
	good.Unknown = []string{`"loops/x.json" is cut short`}
	b := board.New(good)
	if b.IsGood || b.Title != "1 thing is not known" || !strings.Contains(page(t, good), "cut short") {
		t.Errorf("got %q", b.Title)
	}
	good.Unknown, good.Loops[0].Units = nil, []integration.Standing{{Key: "p", State: "unknown", Waits: true}}
	if b := board.New(good); b.IsGood {
		t.Errorf("a part that could not be read: got %q", b.Title)
	}
}

// A loop that does not say how often it runs is not known after a day: one task, however many units it has.
func TestRoundsWithoutInterval(t *testing.T) {
	l := loops.Loop{Integration: "a", Outcome: "done", Ended: noon.Add(-24 * time.Hour),
		Units: []integration.Standing{{Key: "p", State: "same"},
			{Key: "q", State: "same", Things: map[string]int{"same": 1}}}}
	in := board.Input{Now: noon, Loops: []loops.Loop{l}}
	if b := board.New(in); !b.IsGood || b.Fleets[0].Shards[0].State != "in step" {
		t.Errorf("a day old: got %q", b.Title)
	}
	if text := page(t, in); !strings.Contains(text, ">2026-03-29 12:00<") {
		t.Error("a round of another day has no date")
	}
	in.Loops[0].Ended = noon.Add(-24*time.Hour - time.Second)
	b := board.New(in)
	want := "unknown a, all shards: its last round ended 24 h ago, and nobody knows when the next is due: see whether it runs"
	if got := tasks(b); got != want || b.IsGood || b.Title != "1 thing is not known" {
		t.Errorf("got %q with\n%s\nwant\n%s", b.Title, got, want)
	}
	if s := b.Fleets[0].Shards[0]; s.State != "unknown" {
		t.Errorf("got the shard %+v", s)
	}
	in.Loops[0].Ended = noon.Add(-12 * time.Hour)
	if text := page(t, in); !strings.Contains(text, ">00:00<") {
		t.Error("a round of the day has no time of day alone")
	}
}

// What fails or is not known needs somebody, also if it waits for nothing.
func TestUnitsThatDoNotWait(t *testing.T) {
	for state, want := range map[string]string{"unknown": "unknown a: p: it is unknown",
		"failing": "fails a: p: it is failing", "failed": "fails a: p: it is failed", "same": ""} {
		b := board.New(board.Input{Now: noon, Loops: []loops.Loop{{Integration: "a", Outcome: "done", Ended: noon,
			Units: []integration.Standing{{Key: "p", State: state}}}}})
		if got := tasks(b); got != want || b.IsGood != (want == "") {
			t.Errorf("%s: got %q under %q, want %q", state, got, b.Title, want)
		}
	}
}

// A board without texts has no reason, whose words may name targets.
func TestReasonsAreLeftOut(t *testing.T) {
	in := fleet()
	in.Texts = false
	b := board.New(in)
	var all bytes.Buffer
	for _, part := range b.Views() {
		if err := board.WriteView(&all, part); err != nil {
			t.Fatal(err)
		}
	}
	all.WriteString(page(t, in))
	for _, secret := range []string{"quota of account", "must be approved", "crash loop", "by joe", "soaks at stage",
		"a line of a task"} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("the reason %q is shown", secret)
		}
	}
	if in.Loops[2].Errors == nil {
		t.Error("the input was changed")
	}
}

// Names draw nothing and run nothing, wherever they stand.
func TestHostileNames(t *testing.T) {
	const evil = "<script>alert(1)</script>\x1b[31m\u202e\"'><img src=x onerror=alert(1)>"
	in := fleet()
	in.Of, in.Forge, in.Unknown = evil, "https://x/\"><b>", []string{evil}
	for i := range in.Checks {
		in.Checks[i].MergeRequest, in.Checks[i].Commit = evil+"!7", evil
	}
	for i := range in.Loops {
		l := &in.Loops[i]
		l.Integration, l.Shard, l.Errors = evil, evil, []string{evil}
		for j := range l.Units {
			l.Units[j].Key, l.Units[j].State, l.Units[j].Hold = evil, evil, evil
			if l.Units[j].Things != nil {
				l.Units[j].Things = map[string]int{evil: 1}
			}
		}
		for j := range l.Flows {
			f := &l.Flows[j]
			f.Source, f.Stages = evil, []string{evil, evil}
			for k := range f.Commits {
				f.Commits[k].SHA = evil
				f.Commits[k].Passes[0] = integration.Passage{State: evil, Code: evil, Why: evil}
				f.Commits[k].Passes[1] = integration.Passage{State: integration.Waits, Code: evil, Why: evil}
			}
		}
	}
	in.Misses[0].Integration, in.Misses[0].Remedy = evil, evil
	text := page(t, in)
	if n := strings.Count(text, "<script>"); n != 1 {
		t.Errorf("there are %d scripts", n)
	}
	for _, bad := range []string{"<img", "\x1b", "\u202e", "<b>"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands in the page", bad)
		}
	}
	for name, part := range board.New(in).Views() {
		var out bytes.Buffer
		if err := board.WriteView(&out, part); err != nil || !json.Valid(out.Bytes()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// large returns a fleet of 500 shards, 100 merge requests, and ten flows of 20 commits and ten stages.
func large() board.Input {
	in := fleet()
	for i := range 100 {
		c := in.Checks[i%2]
		c.MergeRequest = fmt.Sprintf("shop/data!%d", i)
		in.Checks = append(in.Checks, c)
	}
	for i := range 500 {
		in.Loops = append(in.Loops, loops.Loop{Integration: "terraform-resources", Shard: fmt.Sprintf("account-%03d", i),
			Outcome: "done", Ended: noon})
	}
	for i := range 10 {
		f := integration.Flow{Source: fmt.Sprintf("https://git.example.com/app-%d", i)}
		for s := range 10 {
			f.Stages = append(f.Stages, fmt.Sprintf("app-%d/web/stage-%d", i, s))
		}
		for c := range 20 {
			commit := integration.Commit{SHA: sha(100*i + c)}
			for range 10 {
				commit.Passes = append(commit.Passes, integration.Passage{State: integration.Waits, Code: "soak",
					Why: "it ran for 8 hours of 24 at the publisher", Until: noon.Add(16 * time.Hour)})
			}
			f.Commits = append(f.Commits, commit)
		}
		in.Loops[1].Flows = append(in.Loops[1].Flows, f)
	}
	return in
}

func TestSize(t *testing.T) {
	text := page(t, large())
	if len(text) > 1<<20 {
		t.Errorf("the page has %d bytes, more than 1 MiB", len(text))
	}
	if text != page(t, large()) {
		t.Error("the same input leads to other bytes")
	}
}

// TestWrite writes the page of the fleet to the file that PRCHECK_BOARD names, for people who want to look at it.
func TestWrite(t *testing.T) {
	name := os.Getenv("PRCHECK_BOARD")
	if name == "" {
		t.Skip("PRCHECK_BOARD names no file")
	}
	if err := os.WriteFile(name, []byte(page(t, fleet())), 0o600); err != nil {
		t.Fatal(err)
	}
}
