package history_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/history"
)

// documents is a state in memory.
type documents map[string][]byte

func (d documents) Write(_ context.Context, key string, raw []byte) error { d[key] = raw; return nil }
func (d documents) Remove(_ context.Context, key string) error            { delete(d, key); return nil }
func (documents) List(context.Context, string) ([]state.Entry, error)     { return nil, nil }
func (documents) Discard(context.Context, state.Entry) error              { return nil }

func (d documents) Read(ctx context.Context, key string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if raw, ok := d[key]; ok {
		return raw, nil
	}
	return nil, fs.ErrNotExist
}

func (d documents) Update(_ context.Context, key string, change func(old []byte) ([]byte, error)) error {
	raw, err := change(d[key])
	if err == nil && raw != nil {
		d[key] = raw
	}
	return err
}

// broken is a state whose calls fail.
type broken struct{ state.Store }

func (broken) Read(context.Context, string) ([]byte, error) { return nil, errors.New("no such disk") }
func (broken) Update(context.Context, string, func([]byte) ([]byte, error)) error {
	return errors.New("no such disk")
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// run remembers one result of a task, given by a word: pass, fail, both (it failed, then
// passed), config or canceled.
func run(t *testing.T, memory state.Store, word, inputs string, at time.Time) plan.Result {
	t.Helper()
	r, err := remember(t, memory, word, inputs, at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// remember is run, and also returns the error of the store.
func remember(t *testing.T, memory state.Store, word, inputs string, at time.Time) (plan.Result, error) {
	t.Helper()
	task := plan.Task{ID: "a", Integration: "a", Shard: "s", Command: "sha256:c", Inputs: inputs}
	r := failed(1)
	switch word {
	case "pass":
		r = plan.Result{Status: plan.Passed, Attempts: 1}
	case "both":
		r = plan.Result{Status: plan.Passed, Attempts: 2,
			Before: []plan.Attempt{{Status: plan.Failed, Class: plan.ClassTransient}}}
	case "config":
		r.Class = plan.ClassConfig
	case "canceled":
		r = plan.Result{Status: plan.Canceled, Attempts: 1}
	}
	r.Task = "a"
	results := []plan.Result{r}
	err := history.NewStore(memory).Remember(t.Context(), []plan.Task{task}, results, nil, at, at)
	results[0].Flaky, r.Flaky = nil, results[0].Flaky
	if want := results[0]; want.Status != r.Status || want.Class != r.Class {
		t.Errorf("%s became %+v", word, want)
	}
	return r, err
}

func TestFlaky(t *testing.T) {
	day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	type step struct {
		word, inputs string
		day          int
	}
	mark := func(first, last, failures, runs int, rate float64) *plan.Flaky {
		return &plan.Flaky{FirstSeen: day(first), LastSeen: day(last), Failures: failures, Runs: runs, Rate: rate}
	}
	for name, c := range map[string]struct {
		steps []step
		want  *plan.Flaky
	}{
		"it passes":               {[]step{{"pass", "1", 0}, {"pass", "1", 1}}, nil},
		"it fails":                {[]step{{"fail", "1", 0}, {"fail", "1", 1}}, nil},
		"it is mended":            {[]step{{"fail", "1", 0}, {"pass", "2", 1}}, nil},
		"it breaks":               {[]step{{"pass", "1", 0}, {"fail", "2", 1}}, nil},
		"two attempts of one run": {[]step{{"both", "1", 0}}, mark(0, 0, 1, 2, 0.5)},
		"passes where it failed":  {[]step{{"fail", "1", 0}, {"pass", "1", 1}}, mark(1, 1, 1, 2, 0.5)},
		"fails where it passed":   {[]step{{"pass", "1", 0}, {"fail", "1", 1}}, mark(1, 1, 1, 2, 0.5)},
		"seen once more": {[]step{{"both", "1", 0}, {"pass", "2", 1}, {"both", "3", 2}},
			mark(0, 2, 2, 5, 0.4)},
		"passing again is nothing new": {[]step{{"fail", "1", 0}, {"pass", "1", 1}, {"pass", "1", 5}},
			mark(1, 1, 1, 3, 0.333)},
		"failing again is": {[]step{{"fail", "1", 0}, {"pass", "1", 1}, {"fail", "1", 5}},
			mark(1, 5, 2, 3, 0.667)},
		"failures of another kind":      {[]step{{"both", "1", 0}, {"fail", "2", 1}}, mark(0, 0, 1, 3, 0.333)},
		"after 14 days it still is":     {[]step{{"both", "1", 0}, {"pass", "2", 14}}, mark(0, 0, 1, 3, 0.333)},
		"after 15 days it no more is":   {[]step{{"both", "1", 0}, {"pass", "2", 15}}, nil},
		"and begins anew":               {[]step{{"both", "1", 0}, {"both", "2", 15}}, mark(15, 15, 1, 2, 0.5)},
		"old runs prove nothing":        {[]step{{"fail", "1", 0}, {"pass", "1", 15}}, nil},
		"wrong data proves nothing":     {[]step{{"config", "1", 0}, {"pass", "1", 1}}, nil},
		"a canceled run proves nothing": {[]step{{"canceled", "1", 0}, {"pass", "1", 1}}, nil},
		"unknown inputs prove nothing":  {[]step{{"fail", "", 0}, {"pass", "", 1}}, nil},
	} {
		memory := documents{}
		var got *plan.Flaky
		for _, s := range c.steps {
			got = run(t, memory, s.word, s.inputs, day(s.day)).Flaky
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// Attempts that an earlier run remembered are not counted twice, and stay known.
func TestCounted(t *testing.T) {
	task := plan.Task{ID: "a", Integration: "a", Inputs: "1"}
	passing := plan.Attempt{Status: plan.Failed, Class: plan.ClassTransient}
	r := plan.Result{Task: "a", Status: plan.Passed, Attempts: 3, Before: []plan.Attempt{passing, passing}}
	memory := documents{}
	store := history.NewStore(memory)
	for i, c := range []struct {
		store          history.Store
		result         plan.Result
		runs, failures int
	}{
		{store, r, 3, 2},
		{store.Counted(map[string]int{"a": 3}), r, 3, 2},                        // nothing ran
		{store.Counted(map[string]int{"a": 3}), plan.Result{Attempts: 1}, 3, 2}, // and what cannot be is nothing
		{store.Counted(map[string]int{"a": 2}), r, 4, 2},                        // a last attempt
		{store.Counted(map[string]int{"a": 1}), r, 6, 3},                        // the last two
		{store.Counted(map[string]int{"b": 3, "a": 0}), r, 9, 5},                // another one
	} {
		results := []plan.Result{c.result}
		if err := c.store.Remember(t.Context(), []plan.Task{task}, results, nil, noon, noon); err != nil {
			t.Fatal(err)
		}
		if f := results[0].Flaky; c.result.Attempts > 0 && (f == nil || f.Runs != c.runs || f.Failures != c.failures) {
			t.Errorf("%d: got %+v, want %d failures of %d", i, f, c.failures, c.runs)
		}
	}
}

// Another command or another shard is another task.
func TestFlakyIsOfOneTask(t *testing.T) {
	memory := documents{}
	run(t, memory, "both", "1", noon)
	for _, other := range []plan.Task{
		{ID: "a", Integration: "a", Shard: "s", Command: "sha256:d", Inputs: "1"},
		{ID: "a", Integration: "a", Shard: "t", Command: "sha256:c", Inputs: "1"},
		{ID: "a", Integration: "b", Shard: "s", Command: "sha256:c", Inputs: "1"},
	} {
		results := []plan.Result{{Task: "a", Status: plan.Passed, Attempts: 1}}
		if err := history.NewStore(memory).Remember(t.Context(), []plan.Task{other}, results, nil, noon, noon); err != nil ||
			results[0].Flaky != nil {
			t.Errorf("%+v is flaky: %+v, %v", other, results[0].Flaky, err)
		}
	}
}

// The clocks of machines differ. The times in a result are in order all the same.
func TestClocksDiffer(t *testing.T) {
	memory := documents{}
	run(t, memory, "both", "1", noon.Add(30*time.Minute))
	r := run(t, memory, "both", "1", noon)
	want := &plan.Flaky{FirstSeen: noon.Add(30 * time.Minute), LastSeen: noon.Add(30 * time.Minute), Failures: 2, Runs: 4,
		Rate: 0.5}
	if !reflect.DeepEqual(r.Flaky, want) || r.Check() != nil {
		t.Errorf("got %+v, %v, want %+v", r.Flaky, r.Check(), want)
	}
	if r := run(t, memory, "pass", "1", noon); r.Flaky == nil {
		t.Error("what the other machine saw is forgotten")
	}

	memory = documents{}
	for _, at := range []time.Time{noon.Add(30 * time.Minute), noon, noon} {
		r := failed(1)
		r.Task, r.Class, r.Baseline = "a", plan.ClassBaseline, &plan.Baseline{}
		results := []plan.Result{r}
		task := plan.Task{ID: "a", Integration: "a", Inputs: "x"}
		if err := history.NewStore(memory).Remember(t.Context(), []plan.Task{task}, results, map[string]string{"a": "m"}, at,
			at); err != nil {
			t.Fatal(err)
		}
		if got := results[0].Baseline.Since; got == nil || !got.Equal(noon.Add(30*time.Minute)) {
			t.Errorf("at %s: since %v, want what was seen first", at, got)
		}
	}
}

func failed(code int) plan.Result {
	return plan.Result{Status: plan.Failed, Class: plan.ClassTask, ExitCode: code,
		Reason: fmt.Sprintf("exit code %d", code), Attempts: 1}
}

func TestSince(t *testing.T) {
	memory := documents{}
	task := plan.Task{ID: "a", Integration: "a", Inputs: "x"}
	hours := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Hour) }
	for _, c := range []struct {
		mark  string
		hours int
		want  int // since, -1 for nothing
	}{
		{"m", 0, 0}, {"m", 23, 0}, {"m", 47, 0},
		{"n", 48, 48}, // fails otherwise
		{"n", 73, 73}, // not seen for more than a day
		{"", 74, -1},  // not the same
	} {
		r := failed(1)
		r.Task, r.Class, r.Baseline = "a", plan.ClassBaseline, &plan.Baseline{}
		results := []plan.Result{r}
		if err := history.NewStore(memory).Remember(t.Context(), []plan.Task{task}, results, map[string]string{"a": c.mark},
			hours(c.hours), hours(c.hours)); err != nil {
			t.Fatal(err)
		}
		got := results[0].Baseline.Since
		if (got == nil) != (c.want < 0) || got != nil && !got.Equal(hours(c.want)) {
			t.Errorf("after %d hours: since %v, want hour %d", c.hours, got, c.want)
		}
	}
}

// A document that cannot be read counts as none. A document that cannot be written is an
// error, one for each integration.
func TestTroubleWithMemory(t *testing.T) {
	results := []plan.Result{{Task: "a", Status: plan.Passed, Attempts: 2, Before: []plan.Attempt{{Status: plan.Failed}}},
		{Task: "b", Status: plan.NotRun}}
	tasks := []plan.Task{{ID: "a", Integration: "a", Inputs: "x"}, {ID: "b", Integration: "b", Inputs: "x"}}
	err := history.NewStore(broken{}).Remember(t.Context(), tasks, results, nil, noon, noon)
	if want := `remembering how "a" ended: no such disk`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if results[0].Flaky == nil || results[1].Flaky != nil {
		t.Errorf("got %+v", results)
	}
}

// A damaged document does no harm and is replaced. A document of another version stays.
func TestDamagedDocuments(t *testing.T) {
	good := documents{}
	run(t, good, "both", "1", noon)
	var key string
	for k := range good {
		key = k
	}
	raw := string(good[key])
	for name, bad := range map[string]string{
		"empty": "", "cut": raw[:len(raw)/2],
		"another integration": strings.Replace(raw, `"integration":"a"`, `"integration":"b"`, 1),
		"null":                strings.Replace(raw, `"tasks":[`, `"tasks":[null,`, 1),
		"huge counts":         strings.Replace(raw, `"failed":1`, `"failed":1000000000`, 1),
		"negative":            strings.Replace(raw, `"failed":1`, `"failed":-1`, 1),
		"the future":          strings.ReplaceAll(raw, "2026", "2126"),
		"too large":           raw + strings.Repeat(" ", 8<<20),
	} {
		if bad == raw {
			t.Fatalf("%s: nothing changed in %s", name, raw)
		}
		memory := documents{key: []byte(bad)}
		got, err := remember(t, memory, "pass", "2", noon)
		if got.Flaky != nil || err == nil ||
			!strings.Contains(err.Error(), "in the state is not used: it is cut short or damaged") {
			t.Errorf("%s: flaky %+v, %v", name, got.Flaky, err)
		}
		if !json.Valid(memory[key]) || len(memory[key]) > 1000 {
			t.Errorf("%s: now %d bytes", name, len(memory[key]))
		}
	}

	newer := strings.Replace(raw, `"version":"1"`, `"version":"2"`, 1)
	memory := documents{key: []byte(newer)}
	if got, err := remember(t, memory, "pass", "2", noon); got.Flaky != nil || !errors.Is(err, state.ErrOtherVersion) ||
		string(memory[key]) != newer {
		t.Errorf("another version: flaky %+v, %v, now %s", got.Flaky, err, memory[key])
	}
}

// Documents stay small, with many shards and with many runs.
func TestDocumentsAreBounded(t *testing.T) {
	for _, c := range []struct{ shards, runs, most int }{{1010, 2, 400 << 10}, {3, 250, 60 << 10}, {900, 34, 4 << 20}} {
		memory := documents{}
		var tasks []plan.Task
		var results []plan.Result
		for i := range c.shards {
			tasks = append(tasks, plan.Task{ID: fmt.Sprint(i), Integration: "a", Shard: fmt.Sprint(i),
				Inputs: strings.Repeat("i", 1000)})
			results = append(results, plan.Result{Task: fmt.Sprint(i), Status: plan.Passed, Attempts: 1})
		}
		for n := range c.runs {
			if err := history.NewStore(memory).Remember(t.Context(), tasks, slices.Clone(results), nil, noon,
				noon.Add(time.Duration(n)*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		for _, raw := range memory {
			kept := min(c.shards, 1000)
			if len(raw) > c.most || strings.Count(string(raw), `"task":`) != kept ||
				strings.Count(string(raw), `"at":`) != kept*min(c.runs, 200, 30_000/kept) {
				t.Errorf("%d runs of %d shards made %d bytes with %d tasks and %d runs", c.runs, c.shards, len(raw),
					strings.Count(string(raw), `"task":`), strings.Count(string(raw), `"at":`))
			}
		}
	}
}
