package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/script"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/source"
)

var kills = flag.Int("kills", 20, "how often TestKilledAtRandom kills the runner")

// A site is a folder with a plan of many tasks.
type site struct {
	dir, runner string
	plan        *plan.Plan
	env         []string // variables of the runner
}

// newSite makes a plan of n tasks that run the program task.
func newSite(t *testing.T, n int, argv func(task, dir string, i int) []string) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{dir: dir, runner: script.Program(t, "runner")}
	settings := filepath.Join(dir, "prcheck.yaml")
	if err := os.WriteFile(settings, []byte("version: 1\nexec: {argv: [unused], env: {GORACE: atexit_sleep_ms=0}}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	read, err := source.ReadSettings(settings)
	if err != nil {
		t.Fatal(err)
	}
	s.plan = &plan.Plan{Base: s.side(t, "base.json"), Head: s.side(t, "head.json"), Config: read.Digest()}
	d := plan.Decision{Name: "price-tags", Decision: plan.Run, Rung: plan.RungDefinition, Reason: "it is a test"}
	prog := script.Program(t, "task")
	for i := range n {
		id := fmt.Sprintf("price-tags/%d", i)
		d.Tasks = append(d.Tasks, id)
		s.plan.Tasks = append(s.plan.Tasks, plan.Task{ID: id, Integration: d.Name, Argv: argv(prog, dir, i), Timeout: "1m0s",
			Inputs: "sha256:0"})
	}
	s.plan.Integrations = []plan.Decision{d}
	s.write(t)
	return s
}

// write writes the plan.
func (s *site) write(t *testing.T) {
	t.Helper()
	var raw bytes.Buffer
	if err := errors.Join(s.plan.Seal(), plan.Write(&raw, s.plan), os.WriteFile(filepath.Join(s.dir, "plan.json"),
		raw.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// side is one of the bundles of the shop.
func (s *site) side(t *testing.T, name string) plan.Side {
	t.Helper()
	b, err := bundle.Open("../../testdata/shop/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	shop, err := filepath.Abs("../../testdata/shop/" + name)
	if err == nil {
		err = os.Symlink(shop, filepath.Join(s.dir, name))
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan.Side{Ref: name, SHA256: b.SHA256()}
}

// start starts the runner; what it says is for when it fails.
func (s *site) start(t *testing.T, flags ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.runner,
		append([]string{"run", "--plan", "plan.json", "--out", "results.json", "--jobs", "4", "--progress", "none"},
			flags...)...)
	var said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, append([]string{"GORACE=atexit_sleep_ms=0"}, s.env...), &said, &said
	// What is killed leaves nobody who reads; a process that survived would.
	cmd.WaitDelay = time.Minute
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &said
}

// worker returns the id of a runner's worker process, or of the runner itself if it has no
// worker.
func worker(t *testing.T, runner int) int {
	t.Helper()
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range stats {
			raw, _ := os.ReadFile(name)
			_, rest, _ := strings.Cut(string(raw), ") ")
			if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(runner) {
				id, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
				if err != nil {
					t.Fatal(err)
				}
				return id
			}
		}
	}
	return runner
}

// A runner that is killed at any moment loses no result in the journal, and the processes
// that it started are dead before the next runner starts the same tasks.
func TestKilledAtRandom(t *testing.T) {
	s := newSite(t, 120, func(task, dir string, i int) []string {
		return []string{task, "alone", filepath.Join(dir, fmt.Sprintf("%d.lock", i)), strconv.Itoa(i)}
	})
	complete, killed := 0, 0
	if testing.Short() {
		*kills = min(*kills, 4)
	}
	for killed < *kills || complete == 0 {
		cmd, said := s.start(t, "--resume")
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		delay := 20*time.Millisecond + rand.N(300*time.Millisecond)
		if killed == *kills {
			delay = time.Minute
		}
		var err error
		select {
		case err = <-ended:
		case <-time.After(delay):
			pid := cmd.Process.Pid
			if killed%4 == 0 {
				pid = worker(t, pid)
			}
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killed++
			if err = <-ended; err != nil {
				s.once(t, false)
				continue
			}
		}
		if err != nil {
			t.Fatalf("it ended with %v and said\n%s", err, said)
		}
		s.complete(t)
		s.once(t, true)
		complete++
		if err := os.Remove(filepath.Join(s.dir, "results.jsonl")); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d runs complete", killed, complete)
}

// once holds the journal to one result for each task, and the tasks to have never
// met another of their kind.
func (s *site) once(t *testing.T, all bool) {
	t.Helper()
	met, err := filepath.Glob(filepath.Join(s.dir, "*.met"))
	if err != nil || len(met) > 0 {
		t.Fatalf("tasks ran twice at once: %q, %v", met, err)
	}
	raw, err := os.ReadFile(filepath.Join(s.dir, "results.jsonl"))
	if errors.Is(err, os.ErrNotExist) && !all {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range s.plan.Tasks {
		n := bytes.Count(raw, []byte(`{"task":"`+task.ID+`",`))
		if n > 1 || n == 0 && all {
			t.Fatalf("the journal has %d results of %s", n, task.ID)
		}
	}
}

// complete holds the results to be those of all tasks, passed.
func (s *site) complete(t *testing.T) {
	t.Helper()
	f, err := os.Open(filepath.Join(s.dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	results, err := plan.ReadResults(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Results) != len(s.plan.Tasks) {
		t.Fatalf("got %d results, want %d", len(results.Results), len(s.plan.Tasks))
	}
	for i, r := range results.Results {
		if r.Task != s.plan.Tasks[i].ID || !r.OK() {
			t.Fatalf("got %+v, want that %s passed", r, s.plan.Tasks[i].ID)
		}
	}
}

// If the guard or the worker is killed, no process that they started survives: no child,
// no grandchild, and no process that left its group.
func TestNothingSurvives(t *testing.T) {
	for name, victim := range map[string]func(cmd *exec.Cmd) int{
		"guard":  func(cmd *exec.Cmd) int { return cmd.Process.Pid },
		"worker": func(cmd *exec.Cmd) int { return worker(t, cmd.Process.Pid) },
		"group":  func(cmd *exec.Cmd) int { return -cmd.Process.Pid },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, 3, func(task, dir string, i int) []string {
				return []string{task, "family", filepath.Join(dir, fmt.Sprintf("%d.pids", i))}
			})
			cmd, said := s.start(t)
			var pids []int
			for i := range 3 {
				pids = append(pids, s.family(t, fmt.Sprintf("%d.pids", i))...)
			}
			_ = syscall.Kill(victim(cmd), syscall.SIGKILL)
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() == 0 {
				t.Errorf("got %v, %s, want a failure", err, said)
			}
			// The lock is free when they are gone.
			f, err := os.OpenFile(filepath.Join(s.dir, "results.jsonl"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !zombie(pid) {
					t.Errorf("process %d of %d is still there", pid, pids)
				}
			}
		})
	}
}

// family waits for the ids of a task and of what it started.
func (s *site) family(t *testing.T, name string) []int {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		raw, err := os.ReadFile(filepath.Join(s.dir, name))
		if fields := strings.Fields(string(raw)); err == nil && len(fields) == 3 {
			var pids []int
			for _, f := range fields {
				id, err := strconv.Atoi(f)
				if err != nil {
					t.Fatal(err)
				}
				pids = append(pids, id)
			}
			return pids
		}
	}
	t.Fatalf("%s did not come", name)
	return nil
}

// A task inherits stdin, stdout and stderr, and no other file that the runner has open or
// inherited itself.
func TestTasksInheritNoFile(t *testing.T) {
	s := newSite(t, 1, func(string, string, int) []string { return []string{"/bin/ls", "-l", "/proc/self/fd"} })
	foreign, err := os.Create(filepath.Join(s.dir, "foreign"))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	cmd := exec.CommandContext(t.Context(), s.runner, "run", "--plan", "plan.json")
	cmd.Dir, cmd.Env, cmd.ExtraFiles = s.dir, []string{"GORACE=atexit_sleep_ms=0"}, []*os.File{foreign, foreign, foreign}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	// One of them is the list itself.
	if n := strings.Count(string(out), " -> "); n != 4 || strings.Contains(string(out), "foreign") {
		t.Errorf("got %d files, want 4, in\n%s", n, out)
	}
}

// Programs such as timeout signal a process and then its group. The two signals count as
// one request to stop, so results are still written.
func TestTwoSignalsAtOnce(t *testing.T) {
	s := newSite(t, 1, func(task, dir string, _ int) []string {
		return []string{task, "hang", filepath.Join(dir, "hangs")}
	})
	for i := range 12 {
		cmd, said := s.start(t)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if os.Remove(filepath.Join(s.dir, "hangs")) == nil {
				break
			}
		}
		for range 2 {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			time.Sleep(time.Duration(i) * 100 * time.Microsecond)
		}
		err := cmd.Wait()
		if cmd.ProcessState.ExitCode() != 3 {
			t.Fatalf("got %v, want exit code 3: %s", err, said)
		}
		if err := os.Remove(filepath.Join(s.dir, "results.json")); err != nil {
			t.Fatalf("there are no results: %v", err)
		}
	}
}
