//go:build !unix

package wrapper

import (
	"os"
	"os/exec"
)

// There are no process groups here: only the command itself is killed.

func inGroup(*exec.Cmd) (release func()) { return func() {} }

func terminate(p *os.Process) error { return p.Kill() }

func killGroup(*os.Process) {}

func groupAlive(*os.Process) bool { return false }

func signalOf(*os.ProcessState) int { return 0 }
