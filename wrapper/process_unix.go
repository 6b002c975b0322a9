//go:build unix

package wrapper

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// inGroup gives the command a process group of its own, whose id is its pid.
// Release is to be called when the command has ended.
func inGroup(cmd *exec.Cmd) (release func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return notOutliving(cmd.SysProcAttr)
}

// terminate asks the whole group to end.
func terminate(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGTERM); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return nil
}

// killGroup ends what is left of the group. There is usually nothing. Where its
// members become children of ours, they are waited for, or they would stay as
// zombies.
func killGroup(p *os.Process) {
	for syscall.Kill(-p.Pid, syscall.SIGKILL) == nil {
		if _, err := syscall.Wait4(-p.Pid, nil, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
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
