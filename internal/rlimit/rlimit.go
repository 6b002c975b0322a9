package rlimit

import "os/exec"

// Limits are the bounds of a process, in bytes; 0 is none.
type Limits struct {
	Data uint64 // memory that it may write to
	File uint64 // size of one file
}

// Run runs a command within limits. The command begins a moment before they hold.
func (l Limits) Run(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := l.set(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill() // Wait says what became of it
		_ = cmd.Wait()
		return err
	}
	return cmd.Wait()
}
