//go:build unix

package wrapper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// shell returns a task that runs a shell script.
func shell(script string) plan.Task {
	t := task("a")
	t.Argv = []string{"/bin/sh", "-c", script}
	return t
}

// with returns a Process that runs the Argv of each task with the other fields of
// this command.
func with(command wrapper.Command) wrapper.Process {
	return wrapper.Process{
		Command: func(plan.Task) (wrapper.Command, error) { return command, nil },
		Grace:   200 * time.Millisecond,
	}
}

var path = wrapper.Command{Env: []string{"PATH=/usr/bin:/bin"}}

// gone waits until the process whose id is in the file has ended.
func gone(t *testing.T, pidFile string) {
	t.Helper()
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// zombie reports whether a process has ended and its parent has not yet waited for it,
// as happens in a container without an init.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestExitCodeAndSignal(t *testing.T) {
	tests := map[string]struct {
		script, reason string
		code           int
	}{
		"passes": {"echo out; echo err >&2", "", 0},
		"code":   {"exit 3", "exit code 3", 3},
		"signal": {"kill -9 $$", "killed by signal 9", -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := runOne(t, shell(test.script), with(path), wrapper.RunOptions{})
			if r.Reason != test.reason || r.ExitCode != test.code || r.OK() != (test.code == 0) {
				t.Errorf("got %+v", r)
			}
			if name == "passes" && r.Tail != "out\nerr" {
				t.Errorf("got tail %q", r.Tail)
			}
		})
	}
}

func TestTheChildSeesNothingButWhatItIsGiven(t *testing.T) {
	t.Setenv("PRCHECK_TEST_TOKEN", "must not be seen")
	for name, command := range map[string]wrapper.Command{"some": {Env: []string{"A=1=2"}}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := with(command).Run(t.Context(), shell("/usr/bin/env; cat; echo end"), &out)
			if err != nil && !strings.Contains(out.String(), "end") {
				t.Fatal(err, out.String())
			}
			for line := range strings.Lines(out.String()) {
				name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
				switch name { // the last four are the shell's own
				case "A", "end", "PWD", "OLDPWD", "SHLVL", "_":
				default:
					t.Errorf("unexpected %q", line)
				}
			}
			if len(command.Env) > 0 && !strings.Contains(out.String(), "A=1=2\n") {
				t.Errorf("A is missing in %q", out.String())
			}
		})
	}
}

// A task gets the number of static shards and its own. A task that is not divided is
// shard 0 of 1.
func TestNumbersOfStaticShards(t *testing.T) {
	for part, want := range map[plan.Fraction]string{{}: "0 of 1\n", {Part: 3, Of: 3}: "2 of 3\n"} {
		var out strings.Builder
		it := shell("echo $ID of $N")
		it.Static = part
		if err := with(wrapper.Command{Env: []string{"N={shards}", "ID={shard_id}"}}).Run(t.Context(), it,
			&out); err != nil || out.String() != want {
			t.Errorf("%s: got %q, %v, want %q", part, out.String(), err, want)
		}
	}
}

func TestACommandThatCannotStart(t *testing.T) {
	missing := task("a")
	missing.Argv = []string{"no-such-program-at-all"}
	r := runOne(t, missing, with(path), wrapper.RunOptions{})
	if r.Status != plan.Failed || r.Class != plan.ClassConfig ||
		!strings.Contains(r.Reason, `cannot start "no-such-program-at-all"`) {
		t.Errorf("got %+v", r)
	}
	missing.Argv = nil
	if r := runOne(t, missing, with(path), wrapper.RunOptions{}); r.Class != plan.ClassConfig ||
		r.Reason != "the task has no command" {
		t.Errorf("got %+v", r)
	}
	bad := wrapper.Process{Command: func(plan.Task) (wrapper.Command, error) {
		return wrapper.Command{}, &wrapper.ConfigError{Err: errors.New("no exec in prcheck.yaml")}
	}}
	if r := runOne(t, missing, bad, wrapper.RunOptions{}); r.Class != plan.ClassConfig ||
		r.Reason != "no exec in prcheck.yaml" {
		t.Errorf("got %+v", r)
	}
}

func TestTimeoutEndsGrandchildren(t *testing.T) {
	t.Parallel() // it waits
	pid := filepath.Join(t.TempDir(), "pid")
	// The grandchild ignores SIGTERM and holds the output open.
	slow := shell(fmt.Sprintf(`sh -c 'trap "" TERM; echo $$ >%s; while :; do sleep 0.05; done' & echo started; wait`, pid))
	slow.Timeout = "2s"
	begin := time.Now()
	r := runOne(t, slow, with(path), wrapper.RunOptions{Backoff: soon})
	if r.Status != plan.TimedOut || r.Reason != "timed out after 2s" || r.Tail != "started" {
		t.Errorf("got %+v", r)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	gone(t, pid)
}

func TestAChildThatIgnoresSIGTERMIsKilled(t *testing.T) {
	t.Parallel() // it waits
	stubborn := shell(`trap "" TERM; echo ready; while :; do sleep 0.05; done`)
	stubborn.Timeout = "2s"
	r := runOne(t, stubborn, with(path), wrapper.RunOptions{Backoff: soon})
	if r.Status != plan.TimedOut || r.ExitCode != -1 || r.Tail != "ready" {
		t.Errorf("got %+v", r)
	}
}

func TestGrandchildrenHaveTheGraceToo(t *testing.T) {
	t.Parallel() // it waits
	// The leader dies of SIGTERM at once; its child needs a moment to clean up.
	slow := shell(`sh -c 'trap "sleep 0.2; echo cleaned; exit" TERM; while :; do sleep 0.05; done' & wait`)
	slow.Timeout = "2s"
	runner := with(path)
	runner.Grace = 5 * time.Second
	r := runOne(t, slow, runner, wrapper.RunOptions{Backoff: soon})
	if r.Status != plan.TimedOut || !strings.HasSuffix(r.Tail, "cleaned") {
		t.Errorf("got %+v", r)
	}
}

func TestCancelEndsTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tasks := []plan.Task{shell("echo up; exec sleep 60"), shell("echo never")}
	results, err := wrapper.Run(ctx, tasks, runnerFunc(func(ctx context.Context, task plan.Task, log io.Writer) error {
		return with(path).Run(ctx, task, io.MultiWriter(log, writerFunc(func(p []byte) (int, error) {
			cancel() // as soon as it says something
			return len(p), nil
		})))
	}), wrapper.RunOptions{Jobs: 1})
	if err != nil || results[0].Status != plan.Canceled || results[0].Tail != "up" || results[1].Attempts != 0 {
		t.Errorf("got %+v, %v", results, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestProcessesLeftBehindAreKilled(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	begin := time.Now()
	runner := with(path)
	runner.Grace = time.Minute
	r := runOne(t, shell(fmt.Sprintf(`sleep 60 & echo $! >%s; echo done`, pid)), runner, wrapper.RunOptions{})
	if !r.OK() || r.Tail != "done" {
		t.Errorf("got %+v", r)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	gone(t, pid)
}

func TestAChildOutsideTheGroupCannotHoldUpItsTask(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		if runtime.GOOS == "linux" {
			t.Fatal(err)
		}
		t.Skip("only Linux is sure to have setsid")
	}
	pid := filepath.Join(t.TempDir(), "pid")
	r := runOne(t,
		shell(fmt.Sprintf(`setsid sh -c 'echo $$ >%s; exec sleep 60' & while [ ! -s %s ]; do sleep 0.02; done; echo done`,
			pid, pid)),
		with(path), wrapper.RunOptions{})
	if !r.OK() || !strings.Contains(r.Tail, "still holds the output open") {
		t.Errorf("got %+v", r)
	}
	if text, err := os.ReadFile(pid); err == nil {
		if id, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			_ = syscall.Kill(id, syscall.SIGKILL)
		}
	}
}

func TestTenMegabytesOfOutput(t *testing.T) {
	logs := t.TempDir()
	r := runOne(t, shell("head -c 10485760 /dev/zero | tr '\\0' x; echo; echo end"), with(path),
		wrapper.RunOptions{Logs: wrapper.LogFolder{Dir: logs}})
	info, err := os.Stat(filepath.Join(logs, wrapper.LogName("a")))
	if err != nil || info.Size() != 10<<20+5 || !r.OK() || !strings.HasSuffix(r.Tail, "xxx\nend") {
		t.Errorf("got %+v, %v", info, err)
	}
}

// endpoint is a fake Endpoint.
type endpoint struct {
	vars   map[string]string
	err    error
	closed bool
}

func (e *endpoint) Vars() map[string]string { return e.vars }
func (e *endpoint) Close() error            { e.closed = true; return e.err }

func TestPlaceholders(t *testing.T) {
	end := &endpoint{vars: map[string]string{"graphql_url": "http://127.0.0.1:1/{task}", "config": "no"}}
	runner := with(wrapper.Command{
		Argv: []string{"/bin/sh", "-c", `stat -c %a "$1" "$(dirname "$1")"; cat "$1"; echo "$2 $3 $X"; echo "$1" >"$4"`,
			"sh", "{config}", "{graphql_url}", "{other}{{shard}}$(id)", "{out}"},
		Env:    []string{"PATH=/usr/bin:/bin", "X={base_sha}", "{task}=kept"},
		Config: "server = {graphql_url}\nmap = {}\n",
		Vars:   map[string]string{"out": filepath.Join(t.TempDir(), "where"), "base_sha": "abc", "graphql_url": "loses"},
	})
	runner.Open = func(context.Context, plan.Task) (wrapper.Endpoint, error) { return end, nil }
	sharded := task("a")
	sharded.Shard = "app sre"
	r := runOne(t, sharded, runner, wrapper.RunOptions{})
	want := "600\n700\nserver = http://127.0.0.1:1/{task}\nmap = {}\nhttp://127.0.0.1:1/{task} {other}{app sre}$(id) abc"
	if !r.OK() || r.Tail != want || !end.closed {
		t.Errorf("got %+v\nwant tail %q", r, want)
	}
	command, _ := runner.Command(sharded)
	where, err := os.ReadFile(command.Vars["out"])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(strings.TrimSpace(string(where)))); !os.IsNotExist(err) {
		t.Errorf("the private folder %s is still there (%v)", where, err)
	}
}

// A key of a shard cannot end the text around it in a config file, and reaches argv and env as
// it is.
func TestHostileShards(t *testing.T) {
	for _, c := range []struct {
		shard string
		safe  bool // in a config text
	}{
		{"a b/c", true}, {"..", true}, {"../../etc", true}, {"é日本", true}, {"$(id); x & y | z > w", true}, {"a=b#c", true},
		{strings.Repeat("k", 5000), true},
		{`a"b`, false}, {"a'b", false}, {"a`b", false}, {`a\b`, false}, {"a\nb", false}, {"a\rb", false},
	} {
		hostile := task("a/" + c.shard)
		hostile.Shard = c.shard
		print := []string{"/bin/sh", "-c", `printf '%s\n' "$1" "$2" "$KEY"`, "sh", "{shard}", "--only={shard}"}
		r := runOne(t, hostile, with(wrapper.Command{Argv: print, Env: []string{"KEY={shard}"}}), wrapper.RunOptions{})
		if want := c.shard + "\n--only=" + c.shard + "\n" +
			c.shard; len(c.shard) < 1000 && !strings.Contains(c.shard, "\r") && (!r.OK() || r.Tail != want) {
			t.Errorf("%q: got %+v, want tail %q", c.shard, r, want)
		}
		for _, word := range []string{"shard", "task"} {
			r = runOne(t, hostile,
				with(wrapper.Command{Argv: []string{"/bin/sh", "-c", `cat "$1"`, "sh", "{config}"},
					Config: `key = "{` + word + `}"`}), wrapper.RunOptions{})
			if r.OK() != c.safe ||
				!c.safe && (r.Class != plan.ClassConfig || !strings.Contains(r.Reason, "cannot be put into config")) {
				t.Errorf("%q as {%s}: got %+v", c.shard, word, r)
			}
		}
	}
}

func TestTheEndpointCanFailATaskThatExitedWithZero(t *testing.T) {
	refused := &wrapper.ConfigError{Err: errors.New("it asked for /a.yml, which its schemas do not list")}
	for name, test := range map[string]struct {
		script, reason string
		code           int
	}{
		"passed": {"exit 0", refused.Error(), -1},
		"failed": {"exit 3", "exit code 3; " + refused.Error(), 3},
	} {
		t.Run(name, func(t *testing.T) {
			runner := with(path)
			runner.Open = func(context.Context, plan.Task) (wrapper.Endpoint, error) { return &endpoint{err: refused}, nil }
			r := runOne(t, shell(test.script), runner, wrapper.RunOptions{})
			if r.Status != plan.Failed || r.Class != plan.ClassConfig || r.Reason != test.reason || r.ExitCode != test.code {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestAnEndpointThatCannotOpen(t *testing.T) {
	runner := with(path)
	runner.Open = func(context.Context, plan.Task) (wrapper.Endpoint, error) { return nil, errors.New("no port") }
	if r := runOne(t, shell("exit 0"), runner, wrapper.RunOptions{}); r.OK() ||
		r.Reason != "opening the endpoint: no port" {
		t.Errorf("got %+v", r)
	}
}
