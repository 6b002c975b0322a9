//go:build !linux

package kubetest

import "os/exec"

// endWithParent does nothing: the process ends when the test does.
func endWithParent(*exec.Cmd) {}

// hasEnded reports whether the process has ended by itself. Here it is not known.
func (p *process) hasEnded() bool { return p.ended }
