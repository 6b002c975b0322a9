//go:build !unix

package wrapper

import (
	"os"
	"os/exec"
)

// Systems other than Unix have no process groups: only the command itself is killed.

func useProcessGroup(*exec.Cmd) {}

func terminate(p *os.Process) error { return p.Kill() }

func killGroup(*os.Process) error { return nil }

func reapGroup(*os.Process) {}

func isGroupAlive(*os.Process) bool { return false }

func signalOf(*os.ProcessState) int { return 0 }

func isMainThread() bool { return false }
