package wrapper

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/internal/reads"
)

// A launch is a command that was started, on a thread that is its own until finish.
type launch struct {
	path    string // of the program
	process *os.Process
	ended   chan ending // gets one value, when the command has ended
	done    chan struct{}
	tracer  *reads.Tracer // nil if the command is not recorded
	record  reads.Record
}

// An ending says how a command ended.
type ending struct {
	code, signal int
	err          error // of waiting for it
}

// exitError returns an ExitError, or nil if the command succeeded.
func (e ending) exitError() error {
	if e.code == 0 && e.signal == 0 {
		return nil
	}
	return &ExitError{Code: e.code, Signal: e.signal}
}

// launch starts a command that writes its output to out.
func (p Process) launch(ctx context.Context, command Command, out *os.File) (*launch, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	l := &launch{ended: make(chan ending, 1), done: make(chan struct{})}
	started := make(chan error, 1)
	onThread(command, func() {
		defer close(l.done)
		cmd, err := p.startOnThread(l, command, out)
		started <- err
		if err == nil {
			l.wait(cmd)
		}
	})
	if err := <-started; err != nil {
		<-l.done
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return l, nil
}

// onThread starts a goroutine that calls f on a thread on which nothing else runs. If the
// command changes the thread, the thread ends with f; so it is not the main thread. A command that
// is recorded gets a thread without children: who serves it waits for all children of the thread.
func onThread(command Command, f func()) {
	go func() {
		runtime.LockOSThread()
		if command.Enter != nil && isMainThread() || len(command.reads.Below) > 0 && reads.HasChildren() {
			ready := make(chan struct{})
			onThread(command, func() { // on another thread, since this one is taken
				close(ready)
				f()
			})
			<-ready
			runtime.UnlockOSThread()
			return
		}
		f()
		if command.Enter == nil {
			runtime.UnlockOSThread()
		}
	}()
}

// startOnThread starts the command of a launch. A command that cannot be recorded is started
// without that.
func (p Process) startOnThread(l *launch, command Command, out *os.File) (*exec.Cmd, error) {
	if command.Enter != nil {
		if err := enter(command.Enter); err != nil {
			return nil, StartError(err)
		}
	}
	start := p.start
	if start == nil {
		start = (*exec.Cmd).Start
	}
	var err error
	cmd := command.prepare(out)
	if len(command.reads.Below) > 0 {
		if l.tracer, err = reads.Start(cmd, command.reads); err != nil {
			l.record.Partial = err.Error()
			cmd = command.prepare(out)
		}
	}
	if l.tracer == nil {
		err = start(cmd)
	}
	switch {
	case err == nil:
		l.path, l.process = cmd.Path, cmd.Process
		return cmd, nil
	case isShortage(err) || errors.Is(err, syscall.EBADF): // EBADF: a child needs a number more to move its files
		return nil, &ShortageError{Err: err}
	}
	return nil, configErrorf("cannot start %q: %w", command.Argv[0], err)
}

// enter calls the function Enter of a command. A panic is an error.
func enter(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = errors.New(crash.Text(cause))
		}
	}()
	return f()
}

// prepare returns the command in a process group of its own. A program without a slash in its
// name is searched as this thread sees the folders of PATH, and any other one as the command
// sees its folder.
func (c Command) prepare(out *os.File) *exec.Cmd {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...) //nolint:noctx,gosec // watch ends it; the settings name it
	cmd.Env = append([]string{}, c.Env...)        // not nil, which would mean the environment of this process
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.Dir, out, out
	useProcessGroup(cmd)
	return cmd
}

// wait waits for the end of the command. A recorded command is served until all processes
// have ended that it started.
func (l *launch) wait(cmd *exec.Cmd) {
	if l.tracer != nil {
		l.record = l.tracer.Serve(func(status syscall.WaitStatus) {
			end := ending{code: status.ExitStatus()}
			if status.Signaled() {
				end.signal = int(status.Signal())
			}
			l.ended <- end
		})
		return
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	end := ending{err: err}
	if state := cmd.ProcessState; state != nil {
		end.code, end.signal = state.ExitCode(), signalOf(state)
	}
	l.ended <- end
}

// watch ends the command when the context ends: its group gets SIGTERM, and the command is
// killed after the grace period. Call stop when the command has ended. It returns the end of
// the grace period, zero if the command was not told to stop.
func (l *launch) watch(ctx context.Context, grace time.Duration) (stop func() (kill time.Time)) {
	var kill time.Time
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		kill = time.Now().Add(grace)
		_ = terminate(l.process)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-ended:
		case <-timer.C:
			_ = l.process.Kill()
		}
	}()
	return func() time.Time {
		close(ended)
		<-watched
		return kill
	}
}

// killGroup kills the processes that are left in the group of the command. The tracer waits
// for those that are recorded.
func (l *launch) killGroup() {
	if l.tracer != nil {
		_ = killGroup(l.process)
		return
	}
	reapGroup(l.process)
}

// finish ends the processes that are left and are recorded, frees the thread, and returns
// what was read.
func (l *launch) finish() reads.Record {
	if l.tracer == nil {
		<-l.done
		return l.record
	}
	l.tracer.Stop()
	<-l.done
	_ = l.process.Release() // not before: it also forgets the id of the group
	return l.record
}
