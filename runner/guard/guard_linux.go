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

// pipeVariable is the environment variable that tells the worker which pipe the guard
// holds open.
const pipeVariable = "PRCHECK_GUARD"

// folderVariable is the environment variable that tells the worker its private folder.
const folderVariable = "PRCHECK_GUARD_FOLDER"

// The file descriptors that the worker inherits from the guard.
const (
	pipeFD = 3
	heldFD = 4
)

// program is this program. The link still leads to it after its file was replaced.
const program = "/proc/self/exe"

// Run calls work with its workspace, in a process that is guarded. In the guard it
// returns an error with the exit code of the worker, which has reported the error of
// work already. Where no process can be guarded it calls work in this process.
func Run(ctx context.Context, env cli.Env, held HeldFile, work func(context.Context, Workspace) error) error {
	if pipe := env.Getenv(pipeVariable); pipe != "" && pipe == describeFD(pipeFD) {
		return runWorker(ctx, held, env.Getenv(folderVariable), work)
	}
	space, err := openWorkspace(ctx, held)
	if err != nil {
		return err
	}
	defer space.close()
	if err := prepareGuard(); err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "%s: if it is killed, processes and private files of tasks may survive: %v\n", command,
			err)
		return work(ctx, space)
	}
	return runGuard(ctx, env, space)
}

// prepareGuard makes this process able to guard. An error says why it cannot.
func prepareGuard() error {
	if _, err := os.Readlink(program); err != nil {
		return err
	}
	return becomeSubreaper()
}

// describeFD returns the kernel's name for an open file, "pipe:[123]" for example. It
// returns "" if the file descriptor is not open.
func describeFD(fd int) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return ""
	}
	return name
}

// runGuard starts the worker, waits for its end and kills the processes that it left.
func runGuard(ctx context.Context, env cli.Env, space Workspace) error {
	closeInheritedFilesOnExec()
	readEnd, writeEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer writeEnd.Close()
	// Without cancellation: the end of the context must stop the worker gently, below.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, env.Args...) //nolint:gosec // it is this program
	cmd.Args[0] = command
	cmd.Env = append(cmd.Environ(), pipeVariable+"="+describeFD(int(readEnd.Fd())), folderVariable+"="+space.Folder)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, cli.File(env.Stdout), cli.File(env.Stderr)
	cmd.ExtraFiles = []*os.File{readEnd}
	if space.File != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, space.File)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	_ = readEnd.Close()
	if err != nil {
		return fmt.Errorf("starting the worker process: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	err = cmd.Wait()
	stop()
	killDescendants()
	return workerError(cmd.ProcessState, err)
}

// closeInheritedFilesOnExec keeps the files that this process inherited, apart from
// stdin, stdout and stderr, from the worker.
func closeInheritedFilesOnExec() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// workerError returns the error of the command for the way in which the worker ended.
// The error of waiting for the worker is given as err.
func workerError(state *os.ProcessState, err error) error {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return fmt.Errorf("the worker process was killed by signal %d", status.Signal())
	}
	return cli.Told(state.ExitCode())
}

// runWorker calls work in the worker. If the guard dies, the worker kills itself and all
// processes below it.
func runWorker(ctx context.Context, held HeldFile, folder string, work func(context.Context, Workspace) error) error {
	space := Workspace{Folder: folder}
	defer space.close() // the guard does this, too, unless it is killed just after the worker ended
	syscall.CloseOnExec(pipeFD)
	if err := syscall.SetNonblock(pipeFD, true); err != nil { // so that closing the pipe ends a read
		return err
	}
	pipe := os.NewFile(pipeFD, "pipe of the guard")
	if held.Open != nil {
		syscall.CloseOnExec(heldFD)
		space.File = os.NewFile(heldFD, held.Name)
	}
	if err := becomeSubreaper(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watch sync.WaitGroup
	watch.Go(func() {
		if _, err := pipe.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
			killEverything(cancel, space)
		}
	})
	defer watch.Wait()
	defer pipe.Close()
	defer killDescendants() // likewise
	return work(ctx, space)
}

// killEverything kills all processes below this process, removes the private folder, and
// then kills this process. It cancels the work first, so that no killed task is reported
// as failed.
func killEverything(cancel context.CancelFunc, space Workspace) {
	cancel()
	syscall.ForkLock.RLock() // from here on no process can be started
	killDescendants()
	space.removeFolder()
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
