//go:build linux && amd64

package reads

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// options are those of the tracer: stop at the filter's calls, at new processes and threads,
// and at new programs; kill what is traced if the tracer ends.
const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
	unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL

// A task is a thread that is traced.
type task struct {
	attached bool     // its first stop, which the kernel makes, is over
	making   []*entry // names that it makes first if its present call succeeds
	relinks  bool     // names may lead elsewhere after its present call

	folder []byte // the current folder; it holds while the book is of this age
	age    int
}

// A Tracer records what a command and its children read. Its methods apart from Stop belong
// to the thread that started it.
type Tracer struct {
	pid    int // of the command, and of its process group if it has its own
	calls  [512]*call
	book   *book
	at     stop
	memory memory

	stopping atomic.Bool
	mu       sync.Mutex
	tasks    map[int]*task // only Serve changes it
	left     bool          // a process that left the group was killed
	// sharesFolders says that a thread may have changed the current folder of another one.
	sharesFolders bool
}

// Supported returns an error if this machine does not let a process trace its children. It
// starts this program and kills it before its first instruction.
func Supported() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe")
	t, err := prepare(cmd, Scope{})
	if err != nil {
		return err
	}
	return errors.Join(t.abandon(), cmd.Process.Release())
}

// HasChildren reports whether this thread has started a process that nobody has waited for yet,
// or may inherit one: then Serve would take the end of that process from who waits for it. The
// caller must have locked its goroutine to its thread.
func HasChildren() bool {
	if unix.Gettid() == unix.Getpid() { // the main thread inherits children
		return true
	}
	const look = unix.WEXITED | unix.WSTOPPED | unix.WNOHANG | unix.WNOWAIT | unix.WALL | unix.WNOTHREAD
	for {
		if err := unix.Waitid(unix.P_ALL, 0, nil, look, nil); !errors.Is(err, unix.EINTR) {
			return !errors.Is(err, unix.ECHILD)
		}
	}
}

// Start starts a command that is recorded. The caller must have locked its goroutine to its
// thread, which has no children (see HasChildren), must call Serve on it, and must not wait for the
// command in another way. An error says why the command could not be started or recorded; then it
// did nothing.
func Start(cmd *exec.Cmd, of Scope) (*Tracer, error) {
	t, err := prepare(cmd, of)
	if err != nil {
		return nil, err
	}
	quietStops()
	t.recordStart(cmd)
	t.resume(t.pid, unix.PTRACE_CONT, 0)
	return t, nil
}

// prepare starts a command, and stops it before its first instruction.
func prepare(cmd *exec.Cmd, of Scope) (*Tracer, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &Tracer{pid: cmd.Process.Pid, book: newBook(of), tasks: map[int]*task{}}
	for _, c := range tracedCalls() {
		t.calls[c.number] = &c
	}
	t.tasks[t.pid] = &task{attached: true}
	if err := t.attach(); err != nil {
		_ = t.abandon()
		_ = cmd.Process.Release()
		return nil, fmt.Errorf("tracing %q: %w", cmd.Path, err)
	}
	return t, nil
}

// attach waits for the first stop of the command and gives it the filter.
func (t *Tracer) attach() error {
	status, err := waitFor(t.pid)
	if err != nil {
		return err
	}
	if !status.Stopped() || status.StopSignal() != unix.SIGTRAP {
		return errors.New("a signal came before the program began")
	}
	if err := unix.PtraceSetOptions(t.pid, options); err != nil {
		return fmt.Errorf("setting options: %w", err)
	}
	if why := t.gainsRights(t.pid); why != "" {
		return errors.New(why)
	}
	return install(t.pid, filter())
}

// abandon kills a command that did not begin, and waits for its end.
func (t *Tracer) abandon() error {
	if err := unix.Kill(t.pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	for {
		status, err := waitFor(t.pid)
		if err != nil || status.Exited() || status.Signaled() {
			return err
		}
	}
}

// gainsRights says that the program of a stopped process has rights that it does not get while
// it is traced. It returns "" if not.
func (t *Tracer) gainsRights(pid int) string {
	const why = "a program with rights of its own ran without them (set-uid, set-gid or capabilities)"
	program := "/proc/" + strconv.Itoa(pid) + "/exe"
	var info unix.Stat_t
	switch err := unix.Stat(program, &info); {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH): // killed meanwhile
		return ""
	case err != nil:
		return "a program cannot be looked at"
	}
	user, group := os.Geteuid(), os.Getegid()
	if info.Mode&unix.S_ISUID != 0 && int(info.Uid) != user ||
		info.Mode&(unix.S_ISGID|unix.S_IXGRP) == unix.S_ISGID|unix.S_IXGRP && int(info.Gid) != group {
		return why
	}
	if _, err := unix.Getxattr(program, "security.capability", nil); err == nil && user != 0 {
		return why
	}
	return ""
}

// recordStart records what the kernel looked up to start the command.
func (t *Tracer) recordStart(cmd *exec.Cmd) {
	folder, err := os.Readlink("/proc/" + strconv.Itoa(t.pid) + "/cwd")
	if err != nil {
		t.book.doubt("the current folder of the program cannot be read")
	}
	if cmd.Dir != "" {
		t.book.use(t.pid, []byte(folder), asked, true)
	}
	program := cmd.Path
	if program[0] != '/' {
		program = folder + "/" + program
	}
	t.book.use(t.pid, []byte(program), executed, true)
	t.book.interpreters(t.pid, program, func() string { return folder })
}

// Serve lets the command run until it and all processes that it started have ended, and
// returns what they read. It calls ended when the command itself has ended; processes that it
// left behind then still run. Stop ends them.
func (t *Tracer) Serve(ended func(syscall.WaitStatus)) Record {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil { // nobody is left
			break
		}
		if status.Stopped() {
			t.handleStop(tid, status)
			continue
		}
		t.remove(tid)
		if tid == t.pid {
			ended(syscall.WaitStatus(status))
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left {
		t.book.doubt("a process that left its group was ended")
	}
	return t.book.record()
}

// Stop kills the processes that are left, so that Serve returns. It may be called from any
// goroutine, also when Serve has returned.
func (t *Tracer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopping.Store(true)
	for tid := range t.tasks {
		t.kill(tid)
	}
}

// kill kills the process of a thread. The caller holds mu.
func (t *Tracer) kill(tid int) {
	if group, err := unix.Getpgid(tid); err == nil && group != t.pid {
		t.left = true
	}
	_, _, _ = unix.RawSyscall(unix.SYS_TKILL, uintptr(tid), uintptr(unix.SIGKILL), 0)
}

// find returns a thread, and adds it if it is new.
func (t *Tracer) find(tid int) *task {
	known := t.tasks[tid]
	if known == nil || t.stopping.Load() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if known == nil {
			known = &task{}
			t.tasks[tid] = known
		}
		if t.stopping.Load() {
			t.kill(tid)
		}
	}
	return known
}

// remove forgets a thread that has ended.
func (t *Tracer) remove(tid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ended := t.tasks[tid]; ended != nil && ended.relinks { // it may have been killed after the call
		t.book.forget()
	}
	delete(t.tasks, tid)
}

// resume lets a stopped thread go on. A thread that was killed meanwhile is gone.
func (t *Tracer) resume(tid, request int, signal unix.Signal) {
	_, _, _ = unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, uintptr(signal), 0, 0)
}
