//go:build unix

package wrapper

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// inGroup gives the command a process group of its own, whose id is its pid.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// terminate asks the whole group to end.
func terminate(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGTERM); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return nil
}

// killGroup ends what is left of the group. There is usually nothing.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
}

// groupAlive reports whether the group has a member.
func groupAlive(p *os.Process) bool {
	return !errors.Is(syscall.Kill(-p.Pid, 0), syscall.ESRCH)
}

// signalOf returns the signal that killed the process, or 0.
func signalOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}
