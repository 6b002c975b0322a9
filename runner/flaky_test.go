package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner"
	"github.com/app-sre/prcheck/runner/journal"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
)

// A scripted integration says a word in each run on head, and the last word in all
// that follow. It passes on base.
type scripted struct {
	name  string
	words []string // "ok" passes, all else fails
	ran   int      // times on head
}

func (s *scripted) Name() string { return s.name }

func (s *scripted) Run(context.Context, integration.Environment, integration.Actors) error {
	panic("a check writes nothing")
}

func (s *scripted) DryRun(ctx context.Context, w integration.Environment) error {
	answer, err := w.Query(ctx, "{ products { description } }", nil)
	if err != nil || !strings.Contains(string(answer), "dimmer") { // which head gives the lamp
		return err
	}
	word := s.words[min(s.ran, len(s.words)-1)]
	s.ran++
	time.Sleep(time.Millisecond) // durations are counted in milliseconds
	if word == "ok" {
		return nil
	}
	_, _ = fmt.Fprintln(w.Log, word)
	return errors.New(word)
}

// A change is the shop's, with one integration that is scripted and runs alone.
type change struct {
	t       *testing.T
	in      runner.Input
	native  *scripted
	journal string
}

func newChange(t *testing.T, words ...string) *change {
	t.Helper()
	c := &change{t: t, native: &scripted{name: "price-tags", words: words},
		journal: filepath.Join(t.TempDir(), "results.jsonl")}
	base, err := bundle.Open("../testdata/shop/base.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	head, err := bundle.Open("../testdata/shop/head.json", base)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml", []byte("version: 1\ntransient: [the moon is full$]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.Make(t.Context(), planner.Input{Base: base, Head: head, Settings: rules,
		Natives: []integration.DryRunner{c.native}})
	if err != nil {
		t.Fatal(err)
	}
	p.Tasks = []plan.Task{p.Tasks[0]}
	if p.Tasks[0].Integration != "price-tags" {
		t.Fatalf("the first task is %q", p.Tasks[0].ID)
	}
	remembered, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.in = runner.Input{Plan: p, Base: base, Head: head, Settings: rules, Natives: []integration.DryRunner{c.native},
		State: remembered}
	return c
}

// run runs the plan and returns the one result, and what people are told.
func (c *change) run(opts runner.Options) (plan.Result, string) {
	c.t.Helper()
	out, notes := c.runAll(opts)
	return out.Results[0], notes
}

// runAll runs the plan and returns all results, and what people are told.
func (c *change) runAll(opts runner.Options) (*plan.Results, string) {
	c.t.Helper()
	file, err := journal.Open(c.t.Context(), c.journal)
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	var notes bytes.Buffer
	opts.Journal, opts.Logs, opts.Notes = file, filepath.Join(filepath.Dir(c.journal), "logs"), &notes
	if opts.Progress.Out == nil {
		opts.Progress.Out = &bytes.Buffer{}
	}
	opts.Backoff = func(time.Duration) time.Duration { return 0 }
	out, err := runner.Run(c.t.Context(), c.in, opts)
	if err != nil || len(out.Results) != 1 || len(out.Warnings) > 0 {
		c.t.Fatalf("got %+v, %v", out, err)
	}
	return out, notes.String()
}

// outcome is what counts of a result, in a line.
func outcome(r plan.Result) string {
	text := fmt.Sprintf("%s after %d", r.Status, r.Attempts)
	if r.Flaky != nil {
		text += fmt.Sprintf(", flaky: %d of %d", r.Flaky.Failures, r.Flaky.Runs)
	}
	return text
}

const reset = "read: connection reset by peer"

func expect(t *testing.T, what string, r plan.Result, want string) {
	t.Helper()
	if got := outcome(r); got != want {
		t.Errorf("%s: got %s, want %s", what, got, want)
	}
}

// A failure that passes by itself gets a second attempt, and both logs stay. The mark
// is remembered while the task passes, and nothing is without a state.
func TestSecondAttempt(t *testing.T) {
	for _, word := range []string{reset, "the moon is full"} {
		c := newChange(t, word, "ok")
		first, _ := c.run(runner.Options{})
		expect(t, "the first run", first, "passed after 2, flaky: 1 of 2")
		if first.Before[0].Log == "" || first.Flaky.Rate != 0.5 {
			t.Errorf("got %+v", first)
		}
		log, err := os.ReadFile(filepath.Join(filepath.Dir(c.journal), filepath.FromSlash(first.Before[0].Log)))
		if err != nil || !strings.Contains(string(log), word) {
			t.Errorf("the log of the first attempt: %q, %v", log, err)
		}
		again, _ := c.run(runner.Options{})
		expect(t, "the run after it", again, "passed after 1, flaky: 1 of 3")
		c.in.State = nil
		forgetful, _ := c.run(runner.Options{})
		expect(t, "without a state", forgetful, "passed after 1")
	}
}

// A task that failed and then passes with the same inputs is flaky, and never green
// before. From then on it gets another attempt when it fails, but not without the state.
func TestKnownFlake(t *testing.T) {
	c := newChange(t, "no tags today", "ok", "no tags today", "ok", "no tags today")
	failed, _ := c.run(runner.Options{NoBaseline: true})
	expect(t, "unknown", failed, "failed after 1")
	passed, _ := c.run(runner.Options{})
	expect(t, "it passes", passed, "passed after 1, flaky: 1 of 2")
	known, notes := c.run(runner.Options{})
	expect(t, "known", known, "passed after 2, flaky: 2 of 4")
	if !strings.Contains(notes, "runner: 1 task failed for reasons that may pass; running it once more\n") {
		t.Errorf("it is said %q", notes)
	}
	c.in.State = nil
	forgotten, notes := c.run(runner.Options{})
	expect(t, "without a state", forgotten, "failed after 1")
	if strings.Contains(notes, "once more") {
		t.Errorf("it is said %q", notes)
	}
}

// A task that fails twice for an error that may pass, and not on base, gets a last
// attempt at the end. It has one result, which a resumed run takes over and counts once.
func TestLastAttempt(t *testing.T) {
	c := newChange(t, reset, reset, "ok")
	first, notes := c.run(runner.Options{})
	expect(t, "the first run", first, "passed after 3, flaky: 2 of 3")
	const want = "runner: 1 task failed; running it on base, for at most 10m0s\n" +
		"runner: 1 task failed for reasons that may pass; running it once more\n"
	if notes != want {
		t.Errorf("it is said %q, want %q", notes, want)
	}
	raw, err := os.ReadFile(c.journal)
	// before the last attempt, and after it
	if n := strings.Count(string(raw), `"task":"price-tags"`); err != nil || n != 2 {
		t.Errorf("the journal has %d results: %s, %v", n, raw, err)
	}
	for range 2 {
		resumed, notes := c.run(runner.Options{Resume: true})
		expect(t, "resumed", resumed, "passed after 3, flaky: 2 of 3")
		if !strings.HasPrefix(notes, "runner: 1 of 1 tasks had finished before\n") || c.native.ran != 3 {
			t.Errorf("it ran %d times, and it is said %q", c.native.ran, notes)
		}
	}
}

// A task that fails in its last attempt has failed. A resumed run compares it with base
// once more, and gives it no further attempt.
func TestLastAttemptFails(t *testing.T) {
	c := newChange(t, reset)
	c.in.State = nil
	failed, _ := c.run(runner.Options{})
	expect(t, "the first run", failed, "failed after 3")
	if failed.Baseline == nil || failed.Baseline.Finding != "passes on base" {
		t.Errorf("got %+v", failed.Baseline)
	}
	resumed, notes := c.run(runner.Options{Resume: true})
	expect(t, "resumed", resumed, "failed after 3")
	if !strings.Contains(notes, "running it on base") || strings.Contains(notes, "once more") {
		t.Errorf("it is said %q", notes)
	}
}
