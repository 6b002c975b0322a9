package pipeline_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/ci/pipeline"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// tasks returns n tasks in the given number of run orders.
func tasks(n, orders int) []plan.Task {
	out := make([]plan.Task, n)
	for i := range out {
		out[i] = plan.Task{ID: fmt.Sprintf("t%d", i), Integration: "all", Argv: []string{"true"}, Order: i % orders,
			Timeout: "1m0s"}
	}
	return out
}

// written returns the pipeline of a plan with the given tasks.
func written(t testing.TB, list []plan.Task, opts pipeline.Options) string {
	t.Helper()
	return writtenPlan(t, &plan.Plan{Tasks: list}, opts)
}

func writtenPlan(t testing.TB, p *plan.Plan, opts pipeline.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := pipeline.Write(&out, p, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	tests := map[string]struct {
		plan plan.Plan
		opts pipeline.Options
	}{
		"nothing": {plan.Plan{}, pipeline.Options{Parent: "41"}},
		"orders": {plan.Plan{Tasks: tasks(6, 2)},
			pipeline.Options{Parent: "41", Parts: 3, Image: "registry.example.com/prcheck:1", Tags: []string{"docker"},
				Include: "/ci/defaults.yml"}},
		"many": {plan.Plan{Tasks: tasks(402, 2)}, pipeline.Options{Parts: 402}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("testdata", name+".yml.golden")
			got := writtenPlan(t, &tt.plan, tt.opts)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

func TestCountParts(t *testing.T) {
	long := tasks(100, 1)
	for i := range long {
		long[i].EstimateSeconds = 3600
	}
	tests := []struct {
		name   string
		tasks  []plan.Task
		wanted int
		want   int
	}{
		{"none", nil, 0, 0},
		{"none, some wanted", nil, 7, 0},
		{"one", tasks(1, 1), 0, 1},
		{"a minute each is unknown", tasks(25, 1), 0, 3},
		{"much work", long, 0, 40},
		{"more than tasks", tasks(5, 1), 7, 5},
		{"fewer than orders", tasks(5, 5), 2, 5},
		{"many orders", tasks(101, 101), 50, 1},
		{"as wanted", tasks(5000, 3), 1234, 1234},
	}
	for _, tt := range tests {
		if got := pipeline.CountParts(tt.tasks, tt.wanted); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A job can need 50 others. With more jobs before it, it waits for the stage.
func TestNeeds(t *testing.T) {
	tests := []struct {
		parent string
		parts  int // one half in each of two orders
		want   bool
	}{{"", 100, true}, {"", 102, false}, {"1", 98, true}, {"1", 100, false}}
	for _, tt := range tests {
		got := written(t, tasks(200, 2), pipeline.Options{Parent: tt.parent, Parts: tt.parts})
		if strings.Contains(got, "- job: prcheck-parts-1-to-") != tt.want {
			t.Errorf("parent %q, %d parts: needs is %t, want %t", tt.parent, tt.parts, !tt.want, tt.want)
		}
	}
}

func TestTimeouts(t *testing.T) {
	list := tasks(3, 1)
	list[0].Timeout, list[1].Timeout = "1h0m0.5s", "2h0m0s"
	if got := written(t, list, pipeline.Options{Parts: 1}); !strings.Contains(got, "timeout: 393 minutes\n") {
		t.Errorf("want twice the sum and half an hour, got\n%s", got)
	}
	list[0].Timeout = "2562047h0m0s"
	list[1].Timeout = "2562047h0m0s"
	if got := written(t, list, pipeline.Options{Parts: 1}); !strings.Contains(got, "timeout: 1440 minutes\n") {
		t.Errorf("want a day, got\n%s", got)
	}
}

func TestParentIsANumber(t *testing.T) {
	for _, bad := range []string{"-1", "$X", "1 2", "1\n", "½"} {
		if err := pipeline.Write(&bytes.Buffer{}, &plan.Plan{}, pipeline.Options{Parent: bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// For random plans: GitLab accepts the pipeline, and its instances run each task once.
func TestRandomPlans(t *testing.T) {
	schema := ciSchema(t)
	for _, n := range []int{0, 1, 2, 199, 200, 201, 1000, 5000} {
		for _, orders := range []int{1, 3, 101} {
			for _, parts := range []int{0, 50, 201, n} {
				if parts > n || n > 201 && (orders != 3 || parts == 201) {
					continue // takes long and covers no further case
				}
				list := tasks(n, orders)
				check(t, schema, fmt.Sprintf("%d tasks, %d orders, %d parts", n, orders, parts), list,
					pipeline.Options{Parent: "1", Parts: parts})
			}
		}
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a test that can be repeated
		list := tasks(r.IntN(400), 1+r.IntN(7))
		for i := range list {
			list[i].Order = r.IntN(120) % (1 + int(seed)) //nolint:gosec // small
			list[i].EstimateSeconds = float64(r.IntN(300))
			list[i].Timeout = fmt.Sprintf("%dm0s", 1+r.IntN(100))
		}
		opts := pipeline.Options{Parts: r.IntN(500), Tags: []string{hostile[r.IntN(len(hostile))]},
			Image: hostile[r.IntN(len(hostile))]}
		if r.IntN(2) > 0 {
			opts.Parent = "12"
		}
		check(t, schema, fmt.Sprintf("seed %d", seed), list, opts)
	}
}

var hostile = []string{"$(touch /tmp/x)", "`id`", "a: b", "- x", "'\"", "\n  script: [evil]", "${CI_JOB_TOKEN}",
	"x\u2028y", "!reference [a]", "&a", "*a", "<<", "\x1b[31m", "é"}

// The pipeline contains no text that a merge request controls.
func TestHostileNames(t *testing.T) {
	want := written(t, tasks(len(hostile), 1), pipeline.Options{Parent: "1", Parts: 3})
	p := &plan.Plan{Tasks: tasks(len(hostile), 1)}
	for i, name := range hostile {
		id := fmt.Sprintf("t%d%s", i, name)
		p.Integrations = append(p.Integrations, plan.Decision{Name: name, Reason: name, Tasks: []string{id}})
		p.Warnings = append(p.Warnings, name)
		p.Changes.Datafiles = append(p.Changes.Datafiles, plan.Datafile{Path: name})
		p.Base.Ref, p.Base.Commit, p.Head.Ref = "git:"+name, name, name
		task := &p.Tasks[i]
		task.ID, task.Integration, task.Shard, task.Argv, task.Blocked, task.When = id, name, name, []string{name}, name,
			[]string{name}
	}
	if got := writtenPlan(t, p, pipeline.Options{Parent: "1", Parts: 3}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// ciSchema is GitLab's own schema of its CI files.
func ciSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(shared.Path(t, "data", "gitlab", "ci-schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// validate checks a CI file against the schema.
func validate(t testing.TB, schema *jsonschema.Schema, name, text string) {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := schema.Validate(value); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
}

// A job is a job as GitLab reads it.
type job struct {
	Stage    string
	Parallel int
	When     string
	Needs    []struct{ Pipeline, Job string }
	Depends  []string `yaml:"dependencies"`
	Script   []string
	Kept     struct{ When string } `yaml:"artifacts"`
}

func (j job) instances() int { return max(j.Parallel, 1) }

// check checks the rules that are not in the schema: jobs, stages and needs fit together,
// the limits of GitLab hold, orders run one after the other, and each task runs once.
func check(t *testing.T, schema *jsonschema.Schema, name string, list []plan.Task, opts pipeline.Options) {
	t.Helper()
	text := written(t, list, opts)
	if len(text) > 256<<10 {
		t.Fatalf("%s: %d bytes", name, len(text))
	}
	validate(t, schema, name, text)
	if !strings.Contains(text, "workflow:\n  rules:\n    - when: always\n") {
		t.Fatalf("%s: GitLab leaves its jobs out of pipelines of merge requests", name)
	}
	stages, jobs := parse(t, text)
	divided := plan.Partition(list, pipeline.CountParts(list, opts.Parts))
	ran := map[string]int{}
	ordersOf := make([]map[int]bool, len(stages))
	for title, j := range jobs {
		at := slices.Index(stages, j.Stage)
		if at < 0 || j.Parallel == 1 || j.Parallel > 200 {
			t.Fatalf("%s: job %q has the stage %q and %d instances", name, title, j.Stage, j.Parallel)
		}
		waits(t, name+": "+title, j, stages, jobs)
		for _, task := range runs(t, j, divided) {
			ran[task.ID]++
			if ordersOf[at] == nil {
				ordersOf[at] = map[int]bool{}
			}
			ordersOf[at][task.Order] = true
		}
	}
	for _, task := range list {
		if ran[task.ID] != 1 {
			t.Fatalf("%s: task %q is run %d times", name, task.ID, ran[task.ID])
		}
	}
	if len(ran) != len(list) {
		t.Fatalf("%s: %d tasks are run, want %d", name, len(ran), len(list))
	}
	many := 0
	for _, orders := range ordersOf {
		if len(orders) > 1 {
			many++
		}
	}
	if distinct(list) <= pipeline.MaxOrders && many > 0 {
		t.Fatalf("%s: a stage has several orders", name)
	}
}

func distinct(list []plan.Task) int {
	orders := map[int]bool{}
	for _, task := range list {
		orders[task.Order] = true
	}
	return len(orders)
}

// parse reads the stages and the jobs of a pipeline.
func parse(t testing.TB, text string) (stages []string, jobs map[string]job) {
	t.Helper()
	var doc map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	jobs = map[string]job{}
	for key, node := range doc {
		var err error
		switch key {
		case "stages":
			err = node.Decode(&stages)
		case "default", "variables", "include", "workflow":
		default:
			var j job
			err = node.Decode(&j)
			jobs[key] = j
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return stages, jobs
}

// waits checks that a job waits for the whole stage before its own, by its stage or by its
// needs, and that it also starts after failures.
func waits(t *testing.T, name string, j job, stages []string, jobs map[string]job) {
	t.Helper()
	at := slices.Index(stages, j.Stage)
	before := map[string]bool{}
	for title, other := range jobs {
		if at > 0 && other.Stage == stages[at-1] {
			before[title] = true
		}
	}
	count := 0
	for _, need := range j.Needs {
		if need.Pipeline != "" {
			count++
			continue
		}
		needed, ok := jobs[need.Job]
		if !ok || slices.Index(stages, needed.Stage) >= at {
			t.Fatalf("%s: needs %q, which is not of a stage before", name, need.Job)
		}
		count += needed.instances()
		delete(before, need.Job)
	}
	for _, other := range j.Depends {
		if needed, ok := jobs[other]; !ok || slices.Index(stages, needed.Stage) >= at {
			t.Fatalf("%s: depends on %q, which is not of a stage before", name, other)
		}
	}
	switch {
	case count > 50:
		t.Fatalf("%s: needs %d jobs", name, count)
	case len(j.Needs) > 0 && len(before) > 0:
		t.Fatalf("%s: does not wait for %v", name, before)
	case (strings.HasPrefix(j.Stage, "order-") && j.Stage != "order-1" || j.Stage == "report") && j.When != "always":
		t.Fatalf("%s: does not run after a red order", name)
	}
}

var (
	firstPart = regexp.MustCompile(`^part=\$\(\((\d+) \+ \$\{CI_NODE_INDEX:-1\}\)\)$`)
	ofParts   = regexp.MustCompile(`--partition "\$part/(\d+)"`)
)

// runs returns the tasks that the instances of a job run.
func runs(t *testing.T, j job, parts []plan.Part) []plan.Task {
	t.Helper()
	if len(j.Script) < 2 {
		return nil
	}
	begin := firstPart.FindStringSubmatch(j.Script[1])
	if begin == nil {
		return nil
	}
	of := ofParts.FindStringSubmatch(j.Script[len(j.Script)-1])
	if of == nil {
		t.Fatalf("no partition in %q", j.Script)
	}
	first, _ := strconv.Atoi(begin[1])
	if n, _ := strconv.Atoi(of[1]); n != len(parts) || first+j.instances() > n {
		t.Fatalf("%d instances from part %d on, of %d, want %d", j.instances(), first+1, n, len(parts))
	}
	var out []plan.Task
	for node := 1; node <= j.instances(); node++ {
		out = append(out, parts[first+node-1].Tasks...)
	}
	return out
}

func BenchmarkWrite(b *testing.B) {
	list := tasks(5000, 3)
	for b.Loop() {
		written(b, list, pipeline.Options{Parent: "1", Parts: 5000})
	}
}
