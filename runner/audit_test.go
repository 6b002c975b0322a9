package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// A speaker says a text in each run of its tasks. After the last text it repeats it.
type speaker struct {
	texts []string // "slow" takes an hour, "config" fails because of the data, "!…" fails, any other text passes
	ran   int
}

func (s *speaker) Run(ctx context.Context, _ plan.Task, log io.Writer) error {
	text := s.texts[min(s.ran, len(s.texts)-1)]
	s.ran++
	time.Sleep(time.Second)
	failing, isFailing := strings.CutPrefix(text, "!")
	_, _ = fmt.Fprintln(log, failing)
	switch {
	case text == "config":
		return &wrapper.ConfigError{Err: errors.New("no such program")}
	case text == "slow":
		<-ctx.Done()
		return &wrapper.ExitError{Code: 1}
	case isFailing:
		return &wrapper.ExitError{Code: 1}
	}
	return nil
}

// audited audits one unit that says these texts.
func audited(t *testing.T, budget time.Duration, passed bool, head, base string) plan.Audited {
	t.Helper()
	r, opts := oneTask(t, "")
	r.masker = mask.New(nil)
	a := &audit{run: r}
	a.opts.Backoff, a.opts.Jobs = opts.Backoff, 1
	side := func(texts, folder string) *auditSide {
		logs, err := a.comparedLogs(folder)
		if err != nil {
			t.Fatal(err)
		}
		return &auditSide{runner: &speaker{texts: strings.Split(texts, "|")}, logs: logs, announced: a.newAnnouncements(),
			reported: a.newReports()}
	}
	a.onHead, a.onBase = side(head, "audit-head"), side(base, "audit-base")
	a.began = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	return a.auditAll(ctx, []plan.Skipped{{Task: r.Plan.Tasks[0], Rung: plan.RungState, Passed: passed}})[0]
}

// A skip is wrong only if two runs on head say something that no run on base says.
func TestAuditOutcome(t *testing.T) {
	for _, c := range []struct {
		name, head, base string
		want             plan.AuditOutcome
		finding          string
	}{
		{"nothing", "", "", plan.AuditRight, ""},
		{"the same", "a thing", "a thing", plan.AuditRight, ""},
		{"the same failure", "!a thing", "!a thing", plan.AuditRight, ""},
		{"it fails", "!a thing", "", plan.AuditWrong, "it fails: exit code 1; on base: it passes"},
		{"it fails on base", "", "!a thing", plan.AuditWrong, "it passes; on base: it fails: exit code 1"},
		{"another failure", "!one", "!two", plan.AuditWrong, `says something else on base: "one" is missing there`},
		{"it says more", "one\ntwo", "one", plan.AuditWrong, `says something else on base: "two" is missing there`},
		{"it says less", "one", "one\ntwo", plan.AuditWrong,
			"says something else on base: it says more there (2 lines instead of 1)"},
		{"another number", "made 4 things", "made 3 things", plan.AuditWrong,
			`says something else on base: a number differs there, in "made 4 things"`},
		{"a number that differs on base", "took 4 s|took 6 s", "took 3 s|took 5 s", plan.AuditRight, ""},
		{"a number that always differs on head", "took 4 s|took 6 s", "took 3 s", plan.AuditWrong,
			`says something else on base: a number differs there, in "took 4 s"`},
		{"an effect", "INFO ['create_user', 'x']", "", plan.AuditWrong,
			`says something else on base: "INFO ['create_user', 'x']" is missing there`},
		{"an effect on base", "", "INFO ['create_user', 'x']", plan.AuditWrong,
			"says something else on base: it says more there (1 lines instead of 0)"},
		{"other INFO", "INFO hello", "INFO bye", plan.AuditRight, ""},
		{"a flake on head", "!x|", "", plan.AuditUnclear,
			"it differs from base in one of two runs: it fails: exit code 1; on base: it passes"},
		{"a flake on base", "", "!x|", plan.AuditUnclear, "runs on base end in different ways"},
		{"a failure that base has now and then", "!x", "!y|!x|!y", plan.AuditRight, ""},
		{"slow", "slow", "slow", plan.AuditUnclear, "it says nothing: timed out after 20m0s; on base: timed out after 20m0s"},
		{"slow on head", "slow", "", plan.AuditWrong, "it timed out; on base: it passes"},
		{"the data are wrong", "config", "", plan.AuditWrong, "it fails: no such program; on base: it passes"},
		{"the data are wrong on both sides", "config", "config", plan.AuditRight, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := audited(t, 10*time.Hour, false, c.head, c.base)
				if got.Outcome != c.want || c.finding != "" && got.Finding != c.finding ||
					got.Outcome == plan.AuditRight && got.Finding != "" {
					t.Errorf("got %s: %s\nwant %s: %s", got.Outcome, got.Finding, c.want, c.finding)
				}
				if got.Rung != plan.RungState || got.Seconds <= 0 || (got.Outcome == plan.AuditRight) != (len(got.Logs) == 0) {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// If an earlier run is the proof, the unit must pass and may say what it wants.
func TestAuditOfEarlierRuns(t *testing.T) {
	for _, c := range []struct {
		name, head, base string
		want             plan.AuditOutcome
		finding          string
	}{
		{"it passes", "one", "two", plan.AuditRight, ""},
		{"it passes and base fails", "one", "!two", plan.AuditRight, ""},
		{"it fails", "!one", "", plan.AuditWrong, "it fails: exit code 1; on base: it passes"},
		{"it fails otherwise than base", "!one", "!two", plan.AuditWrong,
			`says something else on base: "one" is missing there`},
		{"it fails as on base", "!one", "!one", plan.AuditUnclear, "it no longer passes, on base neither: exit code 1"},
		{"it fails once", "!one|", "", plan.AuditUnclear,
			"it differs from base in one of two runs: it fails: exit code 1; on base: it passes"},
		{"the data are wrong", "config", "", plan.AuditWrong, "it fails: no such program; on base: it passes"},
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := audited(t, 10*time.Hour, true, c.head, c.base); got.Outcome != c.want || got.Finding != c.finding {
				t.Errorf("%s: got %s: %s\nwant %s: %s", c.name, got.Outcome, got.Finding, c.want, c.finding)
			}
		})
	}
}

// A unit whose runs the end of the budget cuts short is left: nothing is known of it.
func TestAuditBudget(t *testing.T) {
	for budget, want := range map[time.Duration]plan.AuditOutcome{
		500 * time.Millisecond:  plan.AuditLeft, // in the first run
		1500 * time.Millisecond: plan.AuditLeft, // before both sides ran
		2500 * time.Millisecond: plan.AuditLeft, // before it is confirmed
		3500 * time.Millisecond: plan.AuditLeft,
		4500 * time.Millisecond: plan.AuditWrong,
	} {
		synctest.Test(t, func(t *testing.T) {
			if got := audited(t, budget, false, "!x", ""); got.Outcome != want {
				t.Errorf("after %s: got %+v", budget, got)
			}
		})
	}
}

// units returns units of plans, with distinct ids.
func units(n int) []plan.Skipped {
	var out []plan.Skipped
	for i := range n {
		out = append(out, plan.Skipped{Task: plan.Task{ID: fmt.Sprint("unit-", i)}, Rung: plan.RungState})
	}
	return out
}

// The sample has each unit with the probability that was asked for, whatever the others are.
// The same plan and seed draw the same sample, and another seed draws another one.
func TestSample(t *testing.T) {
	all := units(100)
	hits, total := map[string]int{}, 0
	const plans, rate = 4000, 0.02
	for i := range plans {
		for _, u := range Sample(all, fmt.Sprint("plan ", i), "", rate) {
			hits[u.Task.ID]++
			total++
		}
	}
	if want := plans * 100 * rate; float64(total) < want*0.95 || float64(total) > want*1.05 {
		t.Errorf("got %d units, want about %.0f", total, want)
	}
	for _, u := range all { // 80 on average, with a standard deviation of 9
		if n := hits[u.Task.ID]; n < 40 || n > 125 {
			t.Errorf("%s was drawn %d times", u.Task.ID, n)
		}
	}
	ids := func(seed string, all []plan.Skipped) string {
		out := ""
		for _, u := range Sample(all, "plan", seed, 0.5) {
			out += u.Task.ID + " "
		}
		return out
	}
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	if a := ids("", all); a != ids("", reversed) || a == ids("7", all) || len(a) == 0 {
		t.Errorf("got %q, %q, %q", a, ids("", reversed), ids("7", all))
	}
	if n := len(Sample(all, "plan", "", 1)); n != 100 {
		t.Errorf("of 100 %%: got %d", n)
	}
	if n := len(Sample(all, "plan", "", 0)); n != 0 {
		t.Errorf("of 0 %%: got %d", n)
	}
}

// In simulated years with wrong skips the bound holds in at least 930 of 1,000, and the audit
// finds the wrong skips at the rate of the sample.
func TestAuditYears(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates thousands of years")
	}
	const years, rate = 1000, 0.1
	for _, share := range []float64{0, 0.0005, 0.003, 0.02, 0.1} {
		r := rand.New(rand.NewPCG(1, uint64(share*1e6)))
		held, found, planted := 0, 0, 0
		for range years {
			n := 50 + r.IntN(1500) // skips of the year
			all := units(n)
			wrong, isWrong := 0, make(map[string]bool)
			for _, u := range all {
				if r.Float64() < share {
					isWrong[u.Task.ID] = true
					wrong++
				}
			}
			var a plan.Audit
			for _, u := range Sample(all, fmt.Sprint(r.Uint64()), "", rate) {
				outcome := plan.AuditRight
				if isWrong[u.Task.ID] {
					outcome = plan.AuditWrong
				}
				a.Units = append(a.Units, plan.Audited{Rung: u.Rung, Outcome: outcome})
			}
			count := plan.Sum(a.Count())
			found += count.Wrong
			planted += wrong
			if float64(wrong)/float64(n) <= count.UpperBound() {
				held++
			}
		}
		_, _ = fmt.Fprintf(t.Output(), "%.2f %% wrong: the bound holds in %d of %d years; %d of %d wrong skips found\n",
			share*100, held, years, found, planted)
		if held < 930 {
			t.Errorf("%v wrong: the bound holds in %d of %d years", share, held, years)
		}
		if want := float64(planted) * rate; float64(found) < want*0.8-3 || float64(found) > want*1.2+3 {
			t.Errorf("%v wrong: %d of %d were found, want about %.0f", share, found, planted, want)
		}
	}
}
