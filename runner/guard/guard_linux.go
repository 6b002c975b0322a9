package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"github.com/app-sre/prcheck/internal/cli"
)

// command is the name of the program that is guarded.
const command = "runner"

// variable tells a worker which pipe its guard holds.
const variable = "PRCHECK_GUARD"

// What a worker finds open.
const (
	lifelineFile = 3
	heldFile     = 4
)

// Work calls work in a process that is guarded, with the file that is held. It
// returns what work returned; when that was in the other process, an error that is
// told already.
func Work(ctx context.Context, env cli.Env, hold Hold, work func(context.Context, *os.File) error) error {
	if pipe := env.Getenv(variable); pipe != "" && pipe == opened(lifelineFile) {
		return worker(ctx, hold, work)
	}
	held, err := hold.open(ctx)
	if err != nil {
		return err
	}
	if held != nil {
		defer held.Close()
	}
	if err := able(); err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "%s: what tasks start may outlive a kill: %v\n", command, err)
		return work(ctx, held)
	}
	return guard(ctx, env, held)
}

// self is this program, also when its file was replaced.
const self = "/proc/self/exe"

// able tells why nothing can be guarded here, nil when it can.
func able() error {
	if _, err := os.Readlink(self); err != nil {
		return err
	}
	return adopt()
}

// opened tells what a file is, "" when it is not open.
func opened(file int) string {
	to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file))
	if err != nil {
		return ""
	}
	return to
}

// guard starts the worker, waits for it, and kills what it left behind.
func guard(ctx context.Context, env cli.Env, held *os.File) error {
	keepFiles()
	lifeline, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ours.Close()
	// The context is not the one to be killed by: a signal lets it finish.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), self, env.Args...) //nolint:gosec // it is this program
	cmd.Args[0] = command
	cmd.Env = append(cmd.Environ(), variable+"="+opened(int(lifeline.Fd())))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, cli.File(env.Stdout), cli.File(env.Stderr)
	cmd.ExtraFiles = []*os.File{lifeline}
	if held != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, held)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	_ = lifeline.Close()
	if err != nil {
		return fmt.Errorf("starting the process for the work: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	err = cmd.Wait()
	stop()
	killAll()
	return verdict(cmd.ProcessState, err)
}

// keepFiles keeps to itself what this process was started with, beside its input
// and outputs.
func keepFiles() {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, f := range list {
		if file, err := strconv.Atoi(f.Name()); err == nil && file > 2 {
			syscall.CloseOnExec(file)
		}
	}
}

// verdict turns the end of the worker into the error of the command.
func verdict(state *os.ProcessState, err error) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return fmt.Errorf("the process for the work was killed by signal %d", status.Signal())
	}
	return cli.Told(state.ExitCode())
}

// worker does the work while the guard lives.
func worker(ctx context.Context, hold Hold, work func(context.Context, *os.File) error) error {
	syscall.CloseOnExec(lifelineFile)
	if err := syscall.SetNonblock(lifelineFile, true); err != nil { // so that it can be closed while it is read
		return err
	}
	lifeline := os.NewFile(lifelineFile, "lifeline")
	var held *os.File
	if hold.Open != nil {
		syscall.CloseOnExec(heldFile)
		held = os.NewFile(heldFile, hold.Name)
		defer held.Close()
	}
	if err := adopt(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watch sync.WaitGroup
	watch.Go(func() {
		if _, err := lifeline.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
			end(cancel)
		}
	})
	defer watch.Wait()
	defer lifeline.Close()
	defer killAll() // here, since nobody does it when the guard is killed after we ended
	return work(ctx, held)
}

// end ends all that was started, and this process. What is killed is canceled
// before, so that nobody takes it for a failure.
func end(cancel context.CancelFunc) {
	cancel()
	syscall.ForkLock.RLock() // nothing more is started
	killAll()
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
