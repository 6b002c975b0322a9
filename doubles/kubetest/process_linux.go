package kubetest

import (
	"os/exec"
	"syscall"
)

// endWithParent lets a process end when this one does, however that ends.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// hasEnded reports whether the process has ended by itself.
func (p *process) hasEnded() bool {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WNOHANG, nil)
	p.ended = p.ended || err == nil && pid == p.cmd.Process.Pid
	return p.ended
}
