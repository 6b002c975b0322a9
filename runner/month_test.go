package runner

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/runner/baseline"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/history"
	"github.com/app-sre/prcheck/wrapper"
)

var month = flag.Int("month", 150, "how many merge requests the simulated month has; a whole one has 2000")
var seed = flag.Uint64("seed", 1, "for the chances of the simulated month")

// The parameters of the simulation.
const (
	monthIntegrations = 24 // two read each schema
	monthSchemas      = 12
	monthObjects      = 6    // of a schema
	flakeRate         = 0.02 // of the attempts of a task
	brokenRate        = 0.03 // of the time, for each target
	brokenFor         = 20   // merge requests, in the mean
	faultRate         = 0.10 // of the merge requests
	forcedRate        = 0.01 // of the merge requests: a fault is merged all the same
	shakyRate         = 0.02 // of the tasks, where they flake by nature: half of their attempts fail
	shakyFor          = 200  // merge requests, in the mean
)

// flakes are errors that disappear by themselves.
var flakes = []string{
	"requests.exceptions.ConnectionError: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))",
	"[%s] [ERROR] [DRY-RUN] [gql.py:query:7] - 503 Server Error: Service Unavailable for url: https://api/%d",
	"botocore.exceptions.ClientError: An error occurred (ThrottlingException) when calling the ListUsers operation (reached max retries: 4): Rate exceeded",
	"[%s] [ERROR] [DRY-RUN] [oc.py:get:7] - Get \"https://c%d/api\": net/http: TLS handshake timeout",
	"Error: unexpected status code: 429",
	"[%s] [ERROR] [DRY-RUN] [x.py:run:7] - [c%d] 409: Conflict: Data changed during execution",
}

// A simulation is the state of the simulated month: the data of base, and which targets
// are broken.
type simulation struct {
	random *rand.Rand
	sizes  map[string]int // by path of the object
	broken [monthIntegrations]bool
	nature bool                    // tasks flake by nature, not attempts by chance
	shaky  [monthIntegrations]bool // integrations that flake by nature
	paths  []string
}

func newSimulation(seed uint64, nature bool) *simulation {
	w := &simulation{nature: nature, random: rand.New(rand.NewPCG(seed, 1)), sizes: map[string]int{}} //nolint:gosec // repeatable
	for s := range monthSchemas {
		for o := range monthObjects {
			path := fmt.Sprintf("/m/s%02d/o%d.yml", s, o)
			w.sizes[path] = 10
			w.paths = append(w.paths, path)
		}
	}
	return w
}

func (w *simulation) chance(p float64) bool { return w.random.Float64() < p }

// bundle returns objects of these sizes with the definitions of the integrations.
func (w *simulation) bundle(t *testing.T, sizes map[string]int, like *bundle.Bundle) *bundle.Bundle {
	t.Helper()
	data, confs := map[string]any{}, []any{}
	conf := func(name, schema string, fields ...any) {
		for _, f := range []string{"schema", "path", "name"} {
			fields = append(fields, map[string]any{"isRequired": true, "name": f, "type": "string"})
		}
		confs = append(confs, map[string]any{"name": name, "datafile": schema, "fields": fields})
	}
	file := func(path string, f map[string]any) {
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		f["$file_sha256sum"] = fmt.Sprintf("%x", sha256.Sum256(raw))
		data[path] = f
	}
	conf("Query", "")
	conf("Integration_v1", "/app-sre/integration-1.yml")
	for s := range monthSchemas {
		conf(fmt.Sprintf("S%02d_v1", s), fmt.Sprintf("/m/s%02d-1.yml", s), map[string]any{"name": "size", "type": "int"})
	}
	for i := range monthIntegrations {
		file(fmt.Sprintf("/integrations/i%02d.yml", i), map[string]any{
			"$schema": "/app-sre/integration-1.yml", "name": fmt.Sprintf("i%02d", i), "description": "x",
			"labels":   map[string]any{},
			"pr_check": map[string]any{"cmd": "x"}, "schemas": []string{"/app-sre/integration-1.yml",
				fmt.Sprintf("/m/s%02d-1.yml", i%monthSchemas)},
		})
	}
	for path, size := range sizes {
		file(path, map[string]any{"$schema": path[:6] + "-1.yml", "name": path[3:], "size": size})
	}
	raw, err := json.Marshal(map[string]any{
		"data": data, "git_commit": "1", "git_commit_timestamp": "1", "resources": map[string]any{},
		"schemas": map[string]any{},
		"graphql": map[string]any{"$schema": "/app-interface/graphql-schemas-1.yml", "confs": confs},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Parse(raw, like)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A simulatedSide runs the tasks of one side.
type simulatedSide struct {
	*simulation
	sizes map[string]int
	tries map[string]int // attempts of tasks
	first map[string]bool
}

// Run plays an integration that checks all its objects and its target.
func (w simulatedSide) Run(_ context.Context, task plan.Task, log io.Writer) error {
	var i int
	if _, err := fmt.Sscanf(task.Integration, "i%d", &i); err != nil {
		return err
	}
	now := fmt.Sprintf("2026-11-%02d %02d:%02d:%02d", 1+w.random.IntN(28), w.random.IntN(24), w.random.IntN(60),
		w.random.IntN(60))
	failed := false
	say := func(level, format string, args ...any) {
		failed = failed || level == "ERROR"
		_, _ = fmt.Fprintf(log, "[%s] [%s] [DRY-RUN] [x.py:run:42] - %s\n", now, level, fmt.Sprintf(format, args...))
	}
	for _, path := range w.of(i) {
		if size := w.sizes[path]; size < 1 {
			say("ERROR", "%s: size %d is too small", path, size)
		} else {
			say("INFO", "['resize', '%s', %d]", path, size)
		}
	}
	if w.broken[i] && i%2 == 0 {
		say("ERROR", "target t%d: access denied (request id: %016x)", i, w.random.Uint64())
	} else if w.broken[i] {
		say("ERROR", "target t%d: dial tcp 10.0.0.%d:443: connect: connection refused", i, i)
	}
	if w.flakes(i) {
		text := flakes[w.random.IntN(len(flakes))]
		if w.nature && i%2 == 0 {
			text = "[%s] [ERROR] [DRY-RUN] [x.py:run:7] - [c%d] it is not as it was" // no setting lists this error
		}
		if bytes.Count([]byte(text), []byte("%")) > 0 {
			text = fmt.Sprintf(text, now, w.random.IntN(9))
		}
		_, _ = fmt.Fprintln(log, text)
		failed = true
	}
	w.tries[task.ID]++
	if w.tries[task.ID] == 1 {
		w.first[task.ID] = failed
	}
	if failed {
		return &wrapper.ExitError{Code: 1}
	}
	return nil
}

// flakes reports whether an attempt fails by chance.
func (w *simulation) flakes(i int) bool {
	if w.nature {
		return w.shaky[i] && w.chance(0.5)
	}
	return w.chance(flakeRate)
}

// of returns the objects that an integration reads.
func (w *simulation) of(i int) []string {
	n := i % monthSchemas * monthObjects
	return w.paths[n : n+monthObjects]
}

// guilty returns the integrations that the change breaks: one of their objects became
// bad, or is bad in another way.
func (w *simulation) guilty(head map[string]int) []string {
	var out []string
	for i := range monthIntegrations {
		if slices.ContainsFunc(w.of(i), func(p string) bool { return head[p] < 1 && head[p] != w.sizes[p] }) {
			out = append(out, fmt.Sprintf("i%02d", i))
		}
	}
	return out
}

// mended returns the integrations for which the change mends an object that is bad on base.
func (w *simulation) mended(head map[string]int) []string {
	var out []string
	for i := range monthIntegrations {
		if slices.ContainsFunc(w.of(i), func(p string) bool { return w.sizes[p] < 1 && head[p] >= 1 }) {
			out = append(out, fmt.Sprintf("i%02d", i))
		}
	}
	return out
}

// change returns the data of a merge request's head, with or without a fault.
func (w *simulation) change(fault bool) map[string]int {
	head := map[string]int{}
	for p, size := range w.sizes {
		head[p] = size
	}
	for range 1 + w.random.IntN(2) {
		head[w.paths[w.random.IntN(len(w.paths))]] = 1 + w.random.IntN(1000)
	}
	if fault {
		head[w.paths[w.random.IntN(len(w.paths))]] = -w.random.IntN(1000)
	}
	return head
}

// changeTargets breaks and repairs targets.
func (w *simulation) changeTargets() {
	for i := range w.broken {
		if w.broken[i] {
			w.broken[i] = !w.chance(1.0 / brokenFor)
		} else {
			w.broken[i] = w.chance(brokenRate / (1 - brokenRate) / brokenFor)
		}
		if w.nature && w.shaky[i] {
			w.shaky[i] = !w.chance(1.0 / shakyFor)
		} else if w.nature {
			w.shaky[i] = w.chance(shakyRate / (1 - shakyRate) / shakyFor)
		}
	}
}

// In a month of merge requests, while some target is always broken, a red check means that
// the change broke something, and no fault gets through.
func TestMonth(t *testing.T) {
	t.Run("attempts that flake", func(t *testing.T) {
		count := simulatedMonth(t, false)
		for what, of := range map[string]string{"false red tasks": "tasks", "false red": "merge requests"} {
			if most := max(1, count[of]/1000); count[what] > most {
				t.Errorf("%d of %d %s were red without a fault, want at most %d", count[what], count[of], of, most)
			}
		}
	})
	// Half of these fail with errors that no setting lists. They are red until a second
	// run passes, which makes them known as flaky.
	t.Run("tasks that flake by nature", func(t *testing.T) { simulatedMonth(t, true) })
}

// simulatedMonth simulates a month and returns counts of its events.
func simulatedMonth(t *testing.T, nature bool) map[string]int {
	t.Helper()
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\ntransient: ['409: Conflict: Data changed during execution']\nexec: {argv: [x, '{cmd}']}\n"))
	if err != nil {
		t.Fatal(err)
	}
	w, logs, count := newSimulation(*seed, nature), t.TempDir(), map[string]int{}
	remembered, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store := history.NewStore(remembered)
	base := w.bundle(t, w.sizes, nil)
	for n := range *month {
		w.changeTargets()
		fault := w.chance(faultRate)
		sizes := w.change(fault)
		head := w.bundle(t, sizes, base)
		p, err := planner.Make(t.Context(), planner.Input{Base: base, Head: head, Settings: rules,
			ReadQuery: func(string) ([]byte, error) { return nil, fs.ErrNotExist }})
		if err != nil {
			t.Fatal(err)
		}
		r := &run{
			Input: Input{Plan: p, Base: base, Head: head, Settings: rules},
			opts:  Options{Logs: logs}.withDefaults(),
		}
		on := simulatedSide{w, sizes, map[string]int{}, map[string]bool{}}
		at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 20 * time.Minute)
		check := func() *plan.Results {
			base := simulatedSide{w, w.sizes, map[string]int{}, map[string]bool{}}
			out, same := r.simulate(t, on, base, store.Snapshot(at).Flaky)
			fingerprints := map[string]string{}
			for task, c := range same {
				fingerprints[task] = c.Fingerprint
			}
			if err := store.Remember(t.Context(), p.Tasks, out.Results, fingerprints, at, at); err != nil {
				t.Fatal(err)
			}
			return out
		}
		out, guilty := check(), w.guilty(sizes)
		countResults(t, count, p, out, guilty, w.mended(sizes), on.first)
		if out.Failed() && len(guilty) == 0 {
			out = check() // the author runs it again
		}
		if !out.Failed() || w.chance(forcedRate) {
			w.sizes, base = sizes, head
		}
	}
	table(t, count)
	if count["missed tasks"] > 0 || count["missed"] > 0 {
		t.Errorf("%d faults got through", count["missed tasks"])
	}
	return count
}

// simulate runs the tasks on simulated sides. It does what execute does.
func (r *run) simulate(t *testing.T, head, base wrapper.Runner, isFlaky func(context.Context,
	plan.Task) bool) (*plan.Results, map[string]baseline.Comparison) {
	t.Helper()
	opts := wrapper.RunOptions{
		Jobs: 1, Logs: wrapper.LogFolder{Dir: r.opts.Logs}, Transient: r.transientErrors,
		Backoff: func(time.Duration) time.Duration { return 0 },
	}
	r.head = head
	results, err := wrapper.Run(t.Context(), r.Plan.Tasks, head, opts)
	out := &plan.Results{Plan: r.Plan.Digest, Results: results}
	s := r.newSettlement(opts)
	s.isFlaky, s.onBase = isFlaky, func() (wrapper.Runner, error) { return base, nil }
	if err := errors.Join(err, s.settleAll(t.Context(), out.Results)); err != nil {
		t.Fatal(err)
	}
	return out, s.sameOnBase
}

// countResults counts the results of one merge request. A repair is red if the task still
// fails for another reason: it fails in another way than on base, which nobody can tell
// from a fault that hides an error.
func countResults(t *testing.T, count map[string]int, p *plan.Plan, out *plan.Results, guilty, mended []string,
	first map[string]bool) {
	t.Helper()
	count["merge requests"]++
	count["tasks"] += len(p.Tasks)
	naive, isRepair := false, false
	for i, r := range out.Results {
		at := slices.Contains(guilty, p.Tasks[i].Integration)
		naive = naive || first[r.Task]
		count["tasks: "+cmp.Or(string(r.Class), "passed")]++
		if r.Attempts > 1 {
			count["retried"]++
		}
		if r.Flaky != nil && r.OK() && r.Attempts > 1 {
			count["marked flaky"]++
		}
		switch {
		case at || !r.Blocks():
		case slices.Contains(mended, p.Tasks[i].Integration):
			isRepair = true
		default:
			count["false red tasks"]++
			t.Logf("red without a fault: %s after %d attempts, %s", r.Class, r.Attempts, r.Baseline.Finding)
		}
		if at && !r.Blocks() {
			count["missed tasks"]++
			t.Errorf("%s is guilty and does not block: %+v", r.Task, r)
		}
	}
	switch red := out.Failed(); {
	case len(guilty) > 0 && red:
		count["true red"]++
	case len(guilty) > 0:
		count["missed"]++
	case red && isRepair:
		count["red repairs"]++
	case red:
		count["false red"]++
	}
	if naive && len(guilty) == 0 {
		count["false red without"]++
	}
}

// table prints the counts.
func table(t *testing.T, count map[string]int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%-24s %6d", name, count[name])
	}
	share := func(what, of string) float64 { return 100 * float64(count[what]) / float64(count[of]) }
	t.Logf("red without a fault: %.3f %% of the tasks, %.2f %% of the merge requests; without classes, retry and base %.1f %% of them",
		share("false red tasks", "tasks"), share("false red", "merge requests"), share("false red without", "merge requests"))
}
