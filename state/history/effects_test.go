package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state/history"
)

// announce remembers that a task passed and announced effects, found by rules with a digest.
func announce(t *testing.T, memory documents, task plan.Task, e *plan.Effects, rules string, at time.Time) {
	t.Helper()
	passed := plan.Result{Task: task.ID, Status: plan.Passed, Attempts: 1, Spans: []plan.Span{{}}, Effects: e}
	store := history.NewStore(memory).FoundBy(func(plan.Task) string { return rules })
	if err := store.Remember(t.Context(), []plan.Task{task}, []plan.Result{passed}, nil, at, at); err != nil {
		t.Fatal(err)
	}
}

// The effects of a run come back for its inputs and rules, if they are complete and not too
// many.
func TestEffects(t *testing.T) {
	task := plan.Task{ID: "a", Integration: "a", Command: "sha256:c", Inputs: "sha256:i"}
	one := &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: "user jane", Times: 2}}, Compared: true}
	many := &plan.Effects{}
	for i := range 500 {
		many.Items = append(many.Items,
			plan.Effect{Kind: plan.EffectCreate, Subject: fmt.Sprintf("user %d %s", i, strings.Repeat("x", 50))})
	}
	for name, c := range map[string]struct {
		effects    *plan.Effects
		rules, ask string
		want       string
	}{
		"found":           {one, "r", "r", "delete user jane"},
		"nothing":         {&plan.Effects{Items: []plan.Effect{}}, "r", "r", "nothing"},
		"by other rules":  {one, "r", "s", "-"},
		"nobody looked":   {one, "", "", "-"},
		"no effects":      {nil, "r", "r", "-"},
		"unknown":         {&plan.Effects{Unknown: "the task failed", Items: []plan.Effect{}}, "r", "r", "-"},
		"not complete":    {&plan.Effects{Items: one.Items, Beyond: map[plan.EffectKind]int{"delete": 1}}, "r", "r", "-"},
		"too many":        {many, "r", "r", "-"},
		"nobody asks now": {one, "r", "", "-"},
	} {
		memory := documents{}
		announce(t, memory, task, c.effects, c.rules, noon)
		s := history.NewStore(memory).Snapshot(noon)
		began, ok := s.Passed(t.Context(), task, time.Hour)
		if !ok {
			t.Errorf("%s: it did not pass", name)
		}
		got := "-"
		e, at := s.LastEffects(t.Context(), task, time.Hour, c.ask)
		if e != nil {
			if !at.Equal(began) {
				t.Errorf("%s: the run began at %s, want %s", name, at, began)
			}
			if got = "nothing"; len(e.Items) > 0 {
				got = fmt.Sprintf("%s %s", e.Items[0].Kind, e.Items[0].Subject)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if e, _ := history.NewStore(memory).Snapshot(noon.Add(61*time.Minute)).LastEffects(t.Context(), task, time.Hour,
			c.ask); e != nil {
			t.Errorf("%s: the effects count too long", name)
		}
		other := task
		other.Inputs = "sha256:j"
		if e, _ := s.LastEffects(t.Context(), other, time.Hour, c.ask); e != nil {
			t.Errorf("%s: other inputs have effects", name)
		}
	}
}

// A document that somebody made up does not count.
func TestEffectsThatAreNotValid(t *testing.T) {
	task := plan.Task{ID: "a", Integration: "a", Inputs: "i"}
	memory := documents{}
	announce(t, memory, task, &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: "x"}}}, "r", noon)
	for key, raw := range memory {
		for _, to := range []string{`"kind":"evil"`, `"kind":""`} {
			memory[key] = []byte(strings.Replace(string(raw), `"kind":"delete"`, to, 1))
			if _, ok := history.NewStore(memory).Snapshot(noon).Passed(t.Context(), task, time.Hour); ok {
				t.Errorf("%s counts", to)
			}
		}
		memory[key] = []byte(strings.Replace(string(raw), `"rules":"r",`, "", 1))
		if _, ok := history.NewStore(memory).Snapshot(noon).Passed(t.Context(), task, time.Hour); ok {
			t.Error("effects without rules count")
		}
	}
}

// The effects of an integration are bounded. The latest are kept, and the runs stay.
func TestEffectsAreBounded(t *testing.T) {
	memory := documents{}
	large := &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: strings.Repeat("x", 15<<10)}}}
	const n = 400
	task := func(i int) plan.Task {
		return plan.Task{ID: "a", Integration: "a", Shard: fmt.Sprint(i), Inputs: "i"}
	}
	store := history.NewStore(memory).FoundBy(func(plan.Task) string { return "r" })
	for from := 0; from < n; from += 200 {
		var tasks []plan.Task
		var results []plan.Result
		for i := from; i < from+200; i++ {
			tasks = append(tasks, task(i))
			results = append(results, plan.Result{Status: plan.Passed, Attempts: 1, Spans: []plan.Span{{}}, Effects: large})
		}
		at := noon.Add(time.Duration(from) * time.Second)
		if err := store.Remember(t.Context(), tasks, results, nil, at, at); err != nil {
			t.Fatal(err)
		}
	}
	s := history.NewStore(memory).Snapshot(noon.Add(time.Hour))
	kept := 0
	for i := range n {
		if _, ok := s.Passed(t.Context(), task(i), 24*time.Hour); !ok {
			t.Fatalf("task %d is forgotten", i)
		}
		if e, _ := s.LastEffects(t.Context(), task(i), 24*time.Hour, "r"); e != nil {
			kept++
		} else if i >= 200 {
			t.Errorf("the effects of task %d are forgotten, which is one of the last", i)
		}
	}
	if kept < 200 || kept >= n {
		t.Errorf("the effects of %d of %d tasks are kept", kept, n)
	}
}

// The last run by the rules that are asked for counts, also after one by other rules.
func TestEffectsByRules(t *testing.T) {
	task := plan.Task{ID: "a", Integration: "a", Inputs: "i"}
	memory := documents{}
	for i, rules := range []string{"r", "r", "s", ""} {
		announce(t, memory, task, &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: fmt.Sprint(i)}}},
			rules, noon.Add(time.Duration(i)*time.Minute))
	}
	s := history.NewStore(memory).Snapshot(noon.Add(10 * time.Minute))
	for rules, want := range map[string]string{"r": "1 12:01", "s": "2 12:02"} {
		e, began := s.LastEffects(t.Context(), task, time.Hour, rules)
		if again, ok := s.Effects(t.Context(), task, began, rules); !ok || again != e {
			t.Errorf("rules %s: the run of %s announced %+v", rules, began, again)
		}
		if _, ok := s.Effects(t.Context(), task, began.Add(time.Second), rules); ok {
			t.Errorf("rules %s: a run that was not announced something", rules)
		}
		if e == nil || e.Items[0].Subject+began.Format(" 15:04") != want {
			t.Errorf("rules %s: got %+v of %s, want %s", rules, e, began, want)
		}
	}
}
