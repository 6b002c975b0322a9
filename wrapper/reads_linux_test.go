package wrapper_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// recording returns a Process that records below dir, and a function that returns the records
// by task.
func recording(dir string) (wrapper.Process, func(id string) []reads.Record) {
	var mu sync.Mutex
	records := map[string][]reads.Record{}
	p := with(path)
	p.Reads = func(plan.Task) reads.Scope { return reads.Scope{Below: []string{dir}} }
	p.Record = func(task plan.Task, r reads.Record) {
		mu.Lock()
		defer mu.Unlock()
		records[task.ID] = append(records[task.ID], r)
	}
	return p, func(id string) []reads.Record {
		mu.Lock()
		defer mu.Unlock()
		return records[id]
	}
}

// skipUnlessRecorded skips a test where this machine records nothing.
func skipUnlessRecorded(t *testing.T) {
	t.Helper()
	if err := reads.Supported(); err != nil {
		t.Skip(err)
	}
}

// A task that is recorded ends as one that is not.
func TestRecordedTasksEndAsOthers(t *testing.T) {
	skipUnlessRecorded(t)
	for name, test := range map[string]struct{ script, timeout string }{
		"passes":      {script: "cat $DIR/a; echo err >&2"},
		"code":        {script: "cat $DIR/a; exit 3"},
		"signal":      {script: "cat $DIR/a; kill -9 $$"},
		"left behind": {script: "cat $DIR/a; sleep 60 & exit 0"},
		"timeout":     {`trap "" TERM; cat $DIR/a; while :; do [ -e $DIR/b ]; sleep 0.05; done`, "1s"},
		"gentle":      {`trap "cat $DIR/a; exit 0" TERM; while :; do sleep 0.05; done`, "1s"},
		"grandchild":  {`sh -c 'trap "sleep 0.1; cat $DIR/a; exit" TERM; while :; do sleep 0.05; done' & wait`, "1s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			it := shell("DIR=" + dir + "; export DIR; " + test.script)
			if test.timeout != "" {
				it.Timeout = test.timeout
			}
			recorded, records := recording(dir)
			alone := with(path)
			var ends []string
			for _, p := range []wrapper.Process{alone, recorded} {
				p.Grace = time.Second
				r := runOne(t, it, p, wrapper.RunOptions{Backoff: soon})
				// The shell says Terminated if the signal also ended a sleep.
				tail := strings.ReplaceAll(r.Tail, "Terminated\n", "")
				ends = append(ends, fmt.Sprintf("%s %s %d %q after %d attempts and %.0f seconds",
					r.Status, r.Reason, r.ExitCode, tail, r.Attempts, r.Seconds))
				if !strings.Contains(r.Tail, "text") {
					t.Errorf("got %+v", r)
				}
			}
			if ends[0] != ends[1] {
				t.Errorf("got %s\nwant %s", ends[1], ends[0])
			}
			for _, got := range records("a") {
				if got.Partial != "" || len(got.Accesses) == 0 || got.Accesses[0].Name != filepath.Join(dir, "a") {
					t.Errorf("got %+v", got)
				}
			}
		})
	}
}

// A child that leaves the group has the grace period, as without a record, and is then ended.
func TestARecordedChildOutsideTheGroup(t *testing.T) {
	skipUnlessRecorded(t)
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	p, records := recording(dir)
	script := `setsid sh -c 'echo $$ >%[1]s; exec sleep 60' & while [ ! -s %[1]s ]; do sleep 0.02; done; echo done`
	r := runOne(t, shell(fmt.Sprintf(script, pid)), p, wrapper.RunOptions{})
	if !r.OK() || !strings.Contains(r.Tail, "still holds the output open") {
		t.Errorf("got %+v", r)
	}
	if got := records("a"); len(got) != 1 || got[0].Partial != "a process that left its group was ended" {
		t.Errorf("got %+v", got)
	}
	gone(t, pid)
}

func TestManyRecordedTasksLeaveNothingBehind(t *testing.T) {
	skipUnlessRecorded(t)
	kinds := []string{"exit 0", "[ -e %[1]s/x ]; echo x", "kill -9 $$", "sleep 60 & cat %[1]s/x; echo x",
		"exec >&- 2>&-; exit 1", "(cat %[1]s/y &) ; cat %[1]s/x"}
	dir := t.TempDir()
	run := func(n int) {
		tasks := make([]plan.Task, n)
		for i := range tasks {
			script := kinds[i%len(kinds)]
			if strings.Contains(script, "%") {
				script = fmt.Sprintf(script, dir)
			}
			tasks[i] = shell(script)
			tasks[i].ID = strconv.Itoa(i)
		}
		p, records := recording(dir)
		p.Grace = time.Minute
		if _, err := wrapper.Run(t.Context(), tasks, p,
			wrapper.RunOptions{Jobs: 4, Logs: wrapper.LogFolder{Dir: t.TempDir()}}); err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			if got := records(task.ID); len(got) == 0 || got[0].Partial != "" {
				t.Errorf("%s %q: got %+v", task.ID, task.Argv, got)
			}
		}
	}
	leavesNothing(t, run, 300)
}

// A program that cannot be recorded runs all the same, and the record says why. One that
// cannot be started fails as without a record, and has none.
func TestProgramsThatCannotBeRecorded(t *testing.T) {
	skipUnlessRecorded(t)
	p, records := recording(t.TempDir())
	missing := task("missing")
	missing.Argv = []string{"no-such-program-at-all"}
	r := runOne(t, missing, p, wrapper.RunOptions{})
	if r.Class != plan.ClassConfig || !strings.Contains(r.Reason, `cannot start "no-such-program-at-all"`) ||
		len(records("missing")) != 0 {
		t.Errorf("got %+v, %+v", r, records("missing"))
	}
	if os.Getuid() != 0 {
		t.Skip("only root makes a program of another user")
	}
	text, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "true")
	if err := errors.Join(os.WriteFile(program, text, 0o755), os.Chown(program, 12345, 0),
		os.Chmod(program, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	other := task("other")
	other.Argv = []string{program}
	r = runOne(t, other, p, wrapper.RunOptions{})
	if got := records("other"); !r.OK() || len(got) != 1 || !strings.Contains(got[0].Partial, "set-uid") {
		t.Errorf("got %+v, %+v", r, got)
	}
}

// Enter changes what the command sees, and nothing else.
func TestEnter(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root mounts")
	}
	dir := t.TempDir()
	p, records := recording(dir)
	p.Command = func(plan.Task) (wrapper.Command, error) {
		return wrapper.Command{Env: path.Env, Dir: dir, Argv: []string{"./program"}, Enter: func() error {
			if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
				return err
			}
			if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
				return err
			}
			if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "program"),
				[]byte("#!/bin/sh\necho inside; [ -e missing ]; exit 0\n"), 0o755)
		}}, nil
	}
	for range 20 { // on whatever threads
		r := runOne(t, task("a"), p, wrapper.RunOptions{})
		if strings.Contains(r.Reason, syscall.EPERM.Error()) {
			t.Skip(r.Reason)
		}
		if !r.OK() || r.Tail != "inside" {
			t.Fatalf("got %+v", r)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Fatalf("outside there is %v, %v", entries, err)
		}
	}
	for _, got := range records("a") {
		var names []string
		for _, a := range got.Accesses {
			names = append(names, strings.TrimPrefix(a.Name, dir))
		}
		if got.Partial != "" || strings.Join(names, " ") != " /missing /program" {
			t.Errorf("got %q, partial %q", names, got.Partial)
		}
	}
}

func TestEnterFails(t *testing.T) {
	for want, fail := range map[string]func() error{
		"no namespace": func() error { return errors.New("no namespace") },
		"panic at":     func() error { panic("secret") },
	} {
		p := with(wrapper.Command{Argv: []string{"/bin/true"}, Enter: fail})
		if r := runOne(t, task("a"), p, wrapper.RunOptions{}); r.OK() || !strings.Contains(r.Reason, want) ||
			strings.Contains(r.Reason, "secret") {
			t.Errorf("got %+v, want %q", r, want)
		}
	}
	p := with(wrapper.Command{Argv: []string{"/bin/true"}, Enter: func() error { return syscall.ENOMEM }})
	var shortage *wrapper.ShortageError
	if err := p.Run(t.Context(), task("a"), &strings.Builder{}); !errors.As(err, &shortage) {
		t.Errorf("got %v, want a shortage", err)
	}
}

// Programs that others start meanwhile end for those who wait for them.
func TestRecordedTasksLeaveOtherProcesses(t *testing.T) {
	skipUnlessRecorded(t)
	var others errgroup.Group
	var stop atomic.Bool
	for range 8 {
		others.Go(func() error {
			for !stop.Load() {
				if err := exec.Command("/bin/true").Run(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	dir := t.TempDir()
	recorded, _ := recording(dir)
	var tasks errgroup.Group
	tasks.SetLimit(4)
	for range 200 {
		tasks.Go(func() error {
			if r := runOne(t, shell(":"), recorded, wrapper.RunOptions{}); r.Status != plan.Passed {
				return fmt.Errorf("got %+v", r)
			}
			return nil
		})
	}
	if err := tasks.Wait(); err != nil {
		t.Error(err)
	}
	stop.Store(true)
	if err := others.Wait(); err != nil {
		t.Error(err)
	}
}
