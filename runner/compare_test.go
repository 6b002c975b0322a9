package runner

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/pending"
)

// comparing returns a comparison of tasks over the shop, where base defines price-tags alone.
func comparing(t *testing.T, opts Options, decisions []plan.Decision, tasks ...plan.Task) *comparison {
	t.Helper()
	base, err := bundle.Open("../testdata/shop/base.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\neffects: {use: [terraform], compare: base}\nintegrations: {never: {baseline: none}, blind: {effects: none}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Input: Input{Plan: &plan.Plan{Tasks: tasks, Integrations: decisions}, Base: base, Head: base,
		Settings: rules, State: folder}, opts: opts}
	return &comparison{run: r, defined: map[string]bool{"price-tags": true}, contents: "base",
		known: pending.NewStore(folder).Snapshot(time.Now())}
}

// Without a run on base it is known that base does not announce what it does not have.
func TestEffectsWithoutRunOnBase(t *testing.T) {
	found := func() *plan.Effects {
		return &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: "x"}}}
	}
	for name, c := range map[string]struct {
		task    plan.Task
		opts    Options
		err     error
		effects *plan.Effects
		want    string // the effects; "left" if the task must run on base
	}{
		"on base":         {task: plan.Task{Integration: "price-tags"}, effects: found(), want: "left"},
		"a shard on base": {task: plan.Task{Integration: "price-tags", Shard: "harbor"}, effects: found(), want: "left"},
		"a new shard": {task: plan.Task{Integration: "price-tags", Shard: "moon"}, effects: found(),
			want: "delete x new"},
		"new": {task: plan.Task{Integration: "new"}, effects: found(), want: "delete x new"},
		"baseline: none": {task: plan.Task{Integration: "never"}, effects: found(),
			want: "delete x ; the settings say that it never runs on base (baseline: none)"},
		"--no-baseline": {task: plan.Task{Integration: "price-tags"}, opts: Options{NoBaseline: true}, effects: found(),
			want: "delete x ; nothing runs on base (--no-baseline)"},
		"a broken base": {task: plan.Task{Integration: "price-tags"}, err: errors.New("x"), effects: found(),
			want: "delete x ; the integrations of base cannot be read"},
		"unknown": {task: plan.Task{Integration: "price-tags"}, effects: effects.Unknown("the task failed"),
			want: "unknown: the task failed"},
		"nobody looked": {task: plan.Task{Integration: "blind"}, want: "nothing"},
	} {
		results := []plan.Result{{Status: plan.Passed, Effects: c.effects}}
		left := comparing(t, c.opts, nil, c.task).withoutRuns(t.Context(), results, c.err)
		got := "nothing"
		switch e := results[0].Effects; {
		case len(left) > 0:
			got = "left"
		case e == nil:
		case e.Unknown != "":
			got = "unknown: " + e.Unknown
		default:
			got = strings.TrimSuffix(string(e.Items[0].Kind)+" "+e.Items[0].Subject+" "+string(e.Items[0].Since)+"; "+
				e.Uncompared, "; ")
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// A task that may leave out work on head does not say what is gone.
func TestNothingIsGoneThatHeadMayLeaveOut(t *testing.T) {
	c := comparing(t, Options{}, nil)
	base := &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: "x"},
		{Kind: plan.EffectDelete, Subject: "y"}}}
	head := &plan.Effects{Items: base.Items[:1]}
	for want, task := range map[int]plan.Task{2: {}, 1: {When: []string{string(settings.EarlyExit)}}} {
		if got := c.compared(task, head, base); len(got.Items) != want || got.Items[0].Since != plan.SinceBase ||
			!got.Compared {
			t.Errorf("with the conditions %v: got %+v", task.When, got)
		}
	}
}

// What a task announces on base is remembered only if nothing about it is in doubt.
func TestWhatIsRememberedOfBase(t *testing.T) {
	known := plan.Task{Integration: "price-tags", Command: "sha256:c", Argv: []string{"x"}}
	with := func(change func(*plan.Task)) plan.Task {
		out := known
		change(&out)
		return out
	}
	for name, c := range map[string]struct {
		task     plan.Task
		evidence plan.Evidence
		want     bool
	}{
		"known":             {known, plan.Evidence{}, true},
		"native":            {with(func(t *plan.Task) { t.Native = true }), plan.Evidence{}, false},
		"without a command": {with(func(t *plan.Task) { t.Command = "" }), plan.Evidence{}, false},
		"with a variable":   {with(func(t *plan.Task) { t.Argv = []string{"x", "{env.IID}"} }), plan.Evidence{}, false},
		"not in the plan":   {with(func(t *plan.Task) { t.Integration = "other" }), plan.Evidence{}, false},
		"edited by head":    {known, plan.Evidence{Edited: []string{"bin/x"}}, false},
		"in doubt":          {known, plan.Evidence{Doubts: []string{"a file cannot be read"}}, false},
	} {
		cmp := comparing(t, Options{}, []plan.Decision{{Name: "price-tags", Evidence: c.evidence}}, c.task)
		if got := cmp.isRememberable(c.task); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
		if cmp.State = nil; cmp.isRememberable(c.task) {
			t.Errorf("%s: it is remembered without a state", name)
		}
	}
}
