package wrapper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
)

// A crowd is a Runner that can run only so many tasks at once. Further tasks meet a
// shortage.
type crowd struct {
	mu            sync.Mutex
	most, running int
	tries         int
}

func (c *crowd) Run(context.Context, plan.Task, io.Writer) error {
	c.mu.Lock()
	c.tries++
	if c.running >= c.most {
		c.mu.Unlock()
		return StartError(&os.SyscallError{Syscall: "pipe2", Err: syscall.EMFILE})
	}
	c.running++
	c.mu.Unlock()
	time.Sleep(time.Minute)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	return nil
}

func someTasks(n int) []plan.Task {
	var out []plan.Task
	for i := range n {
		out = append(out, plan.Task{ID: fmt.Sprint(i), Timeout: "1h"})
	}
	return out
}

// Tasks that meet a shortage wait and run with fewer tasks at once.
func TestShortagePasses(t *testing.T) {
	for _, most := range []int{1, 3, 7} {
		synctest.Test(t, func(t *testing.T) {
			c := &crowd{most: most}
			results, err := Run(t.Context(), someTasks(30), c, RunOptions{Jobs: 20})
			for _, r := range results {
				if !r.OK() || r.Attempts != 1 {
					t.Errorf("%d at once: %+v", most, r)
				}
			}
			if err != nil || c.tries > 30+20*20 {
				t.Errorf("%d at once: %v after %d tries", most, err, c.tries)
			}
		})
	}
}

// A shortage that stays is the result of each task, soon, and fails nobody else.
func TestShortageStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		results, err := Run(t.Context(), someTasks(30), &crowd{}, RunOptions{Jobs: 4, FailFast: true})
		for _, r := range results {
			if r.Status != plan.NotRun || r.Class != plan.ClassEnvironment || r.Attempts != 0 ||
				r.Reason != "could not be started: pipe2: too many open files" || r.Check() != nil {
				t.Errorf("got %+v, %v", r, r.Check())
			}
		}
		if took := time.Since(began); err != nil || took < 5*time.Second || took > 5*time.Minute {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// A task that waits for a shortage to pass ends when the run is canceled.
func TestShortageCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results, _ := Run(ctx, someTasks(30), &crowd{most: 1}, RunOptions{Jobs: 4})
		for _, r := range results {
			if r.OK() && r.Task != "0" {
				t.Errorf("got %+v", r)
			}
		}
		if ctx.Err() == nil {
			t.Error("the run ended by itself")
		}
	})
}

// No process, no memory and no open file are shortages. Everything else that keeps a
// command from starting is a mistake in the settings.
func TestStartShortages(t *testing.T) {
	for err, want := range map[error]plan.Class{
		syscall.EAGAIN: plan.ClassEnvironment, syscall.ENOMEM: plan.ClassEnvironment, syscall.EMFILE: plan.ClassEnvironment,
		syscall.ENFILE: plan.ClassEnvironment,
		syscall.EBADF:  plan.ClassEnvironment,
		syscall.ENOENT: plan.ClassConfig, syscall.E2BIG: plan.ClassConfig, errors.New("x"): plan.ClassConfig,
	} {
		p := Process{start: func(cmd *exec.Cmd) error { return &os.PathError{Op: "fork/exec", Path: cmd.Path, Err: err} }}
		e := &executor{runner: p, masker: mask.New(nil), opts: RunOptions{Abandon: time.Minute}, isRunCanceled: func() bool {
			return false
		}}
		r := e.runWithTimeout(t.Context(), plan.Task{ID: "a", Argv: []string{"/bin/true"}}, time.Minute, io.Discard)
		if r.Class != want {
			t.Errorf("%v: got %+v, want %s", err, r, want)
		}
	}
}

// A machine that has no further process for a while does not fail a task.
func TestForkAgain(t *testing.T) {
	tries := 0
	p := Process{start: func(cmd *exec.Cmd) error {
		if tries++; tries < 3 {
			return &os.PathError{Op: "fork/exec", Path: cmd.Path, Err: syscall.EAGAIN}
		}
		return cmd.Start()
	}}
	results, err := Run(t.Context(), []plan.Task{{ID: "a", Argv: []string{"/bin/true"}, Timeout: "1m"}}, p,
		RunOptions{Logs: LogFolder{Dir: t.TempDir()}})
	if err != nil || !results[0].OK() || tries != 3 {
		t.Errorf("got %+v, %v after %d tries", results[0], err, tries)
	}
}
