package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// becomeSubreaper makes this process the new parent of each process below it whose own
// parent dies.
func becomeSubreaper() error {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("becoming the parent of orphaned processes: %w", errno)
	}
	return nil
}

// killDescendants kills all processes below this process and waits until they are gone.
// When a child is gone, its own children become children of this process. So all are
// gone when no child is left. The kernel answers that: a list of processes may miss a
// process whose parent changes at that moment.
func killDescendants() {
	for !reapChildren() {
		for _, pid := range listChildren() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// reapChildren reaps the children that have ended. It returns true if no child is left.
func reapChildren() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return true
		case err == nil && pid == 0:
			return false
		}
	}
}

// listChildren returns the ids of the children of this process, including children that
// have ended and were not reaped.
func listChildren() []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var list []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && parentOf(name) == os.Getpid() {
			list = append(list, pid)
		}
	}
	return list
}

// parentOf returns the id of a process's parent, 0 if the process is gone. It skips the
// name of the program, which is in parentheses and may contain any character.
func parentOf(pid string) int {
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	id, _ := strconv.Atoi(string(fields[1]))
	return id
}
