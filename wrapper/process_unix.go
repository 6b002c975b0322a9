//go:build unix

package wrapper

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// useProcessGroup gives the command a process group of its own. The id of the group is
// the command's pid.
func useProcessGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	killWithParent(cmd.SysProcAttr)
}

// terminate asks the whole group to end.
func terminate(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGTERM); errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return nil
}

// killGroup kills the processes that are left in the group; usually there are none.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// reapGroup kills the processes that are left in the group. If this process has become the
// parent of such processes, reapGroup waits for them, because they would stay as zombies
// otherwise.
func reapGroup(p *os.Process) {
	for killGroup(p) == nil {
		if _, err := syscall.Wait4(-p.Pid, nil, 0, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// isGroupAlive reports whether the group has a member.
func isGroupAlive(p *os.Process) bool {
	return !errors.Is(syscall.Kill(-p.Pid, 0), syscall.ESRCH)
}

// signalOf returns the signal that killed the process, or 0.
func signalOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}
