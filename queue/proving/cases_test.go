package proving_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/queue"
	"github.com/app-sre/prcheck/queue/proving"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/state/history"
)

type worldCase struct {
	Name     string
	Input    struct{ Files map[string]*string }
	Expected struct{}
}

type proofCase struct {
	Name  string
	Input struct {
		World        string
		Mine, Others map[string]*string // null removes a file
	}
	Expected struct {
		TextConflict bool `json:"text_conflict"`
		Merges       *bool
		Invalid      string
		OwnValid     *bool `json:"own_valid"`
		OthersValid  *bool `json:"others_valid"`
		Nothing      bool  `json:"nothing_left"`
		Own, Now     []string
		Holds, Delta []string
		Always       []string
		CouldHold    []string `json:"could_hold"`
		Unrun        *bool    `json:"merges_without_running"`
		Why          string
	}
}

// A checkout is a repository of the test.
type checkout struct {
	*testing.T
	dir string
}

func (c checkout) git(args ...string) string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), "git", append([]string{"-C", c.dir, "-c", "user.name=x",
		"-c", "user.email=x@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// write writes files; nil removes one.
func (c checkout) write(files map[string]*string) {
	c.Helper()
	for name, text := range files {
		at := filepath.Join(c.dir, filepath.FromSlash(name))
		if text == nil {
			if err := os.Remove(at); err != nil {
				c.Fatal(err)
			}
			continue
		}
		mode := os.FileMode(0o600)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o700
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(*text), mode); err != nil { //nolint:gosec // a program of the test
			c.Fatal(err)
		}
	}
}

// commit writes files, and makes a commit of them.
func (c checkout) commit(files map[string]*string) string {
	c.Helper()
	c.write(files)
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", "files")
	return c.git("rev-parse", "HEAD")
}

// A scene is a merge request beside what was merged since its pipeline ran.
type scene struct {
	checkout
	env        cli.Env
	state      string
	base, mine string // of its pipeline
	now        string // the branch that it goes to
}

func newScene(t *testing.T, world, mine, others map[string]*string) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cache := t.TempDir()
	s := &scene{checkout: checkout{t, t.TempDir()}, state: t.TempDir(), env: cli.Env{Stderr: os.Stderr,
		Getenv: func(key string) string {
			if key == "XDG_CACHE_HOME" {
				return cache
			}
			return ""
		}}}
	s.git("init", "-q", "-b", "main")
	s.base = s.commit(world)
	s.git("checkout", "-q", "-b", "mine")
	s.mine = s.commit(mine)
	s.git("checkout", "-q", "main")
	s.now = s.commit(others)
	return s
}

// plan returns the plan of the pipeline that the merge request had.
func (s *scene) plan() *plan.Plan {
	s.Helper()
	c, err := change.Inputs{Base: "git:" + s.base + "@" + s.dir, Head: "git:" + s.mine + "@" + s.dir,
		Config: "base:prcheck.yaml", State: s.state}.Open(s.Context(), s.env)
	if err != nil {
		s.Fatal(err)
	}
	p, err := c.Plan(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// remember lets all tasks of a plan have passed, some time ago.
func (s *scene) remember(p *plan.Plan, ago time.Duration, edit func(*plan.Result)) {
	s.Helper()
	store, err := state.At(s.Context(), s.state, state.Writing)
	if err != nil {
		s.Fatal(err)
	}
	var results []plan.Result
	for _, task := range p.Tasks {
		r := plan.Result{Task: task.ID, Status: plan.Passed, Attempts: 1, Spans: []plan.Span{{}}}
		if edit != nil {
			edit(&r)
		}
		results = append(results, r)
	}
	at := time.Now().Add(-ago)
	declared := func(plan.Task) (read, tree string) { return string(files.Declared), p.Head.Tree }
	if err := history.NewStore(store).Reading(declared).Remember(s.Context(), p.Tasks, results, nil, at, at); err != nil {
		s.Fatal(err)
	}
}

// decide returns what is decided about the merge request now.
func (s *scene) decide() queue.Decision {
	s.Helper()
	p, err := proving.New(s.Context(), proving.Place{Env: s.env, Repository: s.dir, State: s.state})
	if err != nil {
		s.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			s.Error(err)
		}
	}()
	head := s.git("rev-parse", "mine")
	proof := p.Look(s.Context())(s.now, queue.Request{Head: head})
	return proof.Decide(queue.Pair{Head: head, Base: s.now})
}

// names returns the names of tasks, sorted.
func names(p *plan.Plan) []string {
	out := []string{}
	for _, t := range p.Tasks {
		name := t.Integration
		if t.Shard != "" {
			name += "/" + t.Shard
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// worlds returns the files of the worlds of the cases.
func worlds(t *testing.T) map[string]map[string]*string {
	t.Helper()
	out := map[string]map[string]*string{}
	for _, c := range shared.Cases[worldCase](t, "merge_world") {
		out[c.Name] = c.Input.Files
	}
	return out
}

// What a merge request has to run on a new base is as the cases say: over real git, with the passes of its own pipeline.
func TestProofCases(t *testing.T) {
	all := worlds(t)
	shared.Each(t, "merge_proof", func(t *testing.T, c proofCase) { c.play(t, all, c.Expected.Holds) })
}

// Where it is enforced what a task may ask for, more holds.
func TestProofsWhereSchemasAreEnforced(t *testing.T) {
	all := worlds(t)
	for name, files := range all {
		all[name] = maps.Clone(files)
		settings := *files["prcheck.yaml"] + "schemas: strict\n"
		all[name]["prcheck.yaml"] = &settings
	}
	for _, c := range shared.Cases[proofCase](t, "merge_proof") {
		if len(c.Expected.CouldHold) == 0 {
			continue // the same as where it is believed
		}
		if edited := c.Input.Others["prcheck.yaml"]; edited != nil {
			settings := *edited + "schemas: strict\n"
			c.Input.Others["prcheck.yaml"] = &settings
		}
		t.Run(c.Name, func(t *testing.T) {
			c.play(t, all, slices.Sorted(slices.Values(slices.Concat(c.Expected.Holds, c.Expected.CouldHold))))
		})
	}
}

// play plays a case in one of the worlds. holds are the tasks that must hold.
func (c proofCase) play(t *testing.T, all map[string]map[string]*string, holds []string) {
	t.Helper()
	want := c.Expected
	world := all[c.Input.World]
	if world == nil {
		t.Fatalf("the world %q is not there", c.Input.World)
	}
	s := newScene(t, world, c.Input.Mine, c.Input.Others)
	if want.Own != nil {
		own := s.plan()
		if got := names(own); !slices.Equal(got, want.Own) {
			t.Errorf("own tasks %q, want %q", got, want.Own)
		}
		s.remember(own, time.Minute, nil)
	}
	got := s.decide()
	switch {
	case want.TextConflict:
		expectState(t, got, queue.Conflict)
	case want.Invalid != "":
		if expectState(t, got, queue.Invalid); !strings.Contains(got.Reason.String(), want.Invalid) {
			t.Errorf("mistakes %q, want %s", got.Reason.Names, want.Invalid)
		}
	case want.Nothing:
		expectState(t, got, queue.NothingLeft)
	default:
		c.compare(t, got, holds)
	}
	if want.Merges != nil && got.State.MayMerge() != *want.Merges {
		t.Errorf("state %s, merges: want %v", got.State, *want.Merges)
	}
}

// compare compares the tasks of a decision with those that must hold.
func (c proofCase) compare(t *testing.T, got queue.Decision, holds []string) {
	t.Helper()
	want := c.Expected
	if !slices.Equal(got.Holding, holds) && len(got.Holding)+len(holds) > 0 {
		t.Errorf("holds %q, want %q", got.Holding, holds)
	}
	delta := slices.DeleteFunc(slices.Clone(want.Now), func(name string) bool { return slices.Contains(holds, name) })
	if !slices.Equal(got.Delta, delta) {
		t.Errorf("delta %q, want %q", got.Delta, delta)
	}
	if len(holds) == len(want.Holds) && !slices.Equal(delta, want.Delta) {
		t.Errorf("the case runs %q, and its tasks that do not hold are %q", want.Delta, delta)
	}
	if want.Unrun != nil && got.State.MayMerge() != *want.Unrun {
		t.Errorf("state %s, merges without running: want %v", got.State, *want.Unrun)
	}
}

func expectState(t *testing.T, got queue.Decision, want queue.State) {
	t.Helper()
	if got.State != want {
		t.Errorf("state %s (%s), want %s", got.State, got.Reason, want)
	}
}
