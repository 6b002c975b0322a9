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

// adopt makes this process the parent of all processes below it that lose theirs.
func adopt() error {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("adopting what is left behind: %w", errno)
	}
	return nil
}

// killAll kills all processes below this one and waits until they are gone. When
// a child is gone its own children are ours, so it is done when there is none, and
// that is for the kernel to say: a list of processes may miss one that is being
// handed on.
func killAll() {
	for !childless() {
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// childless takes note of the children that have ended, and tells whether there
// is none left.
func childless() bool {
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

// children lists the children of this process, also those that have ended and
// wait for someone to notice.
func children() []int {
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
		if pid, err := strconv.Atoi(name); err == nil && parent(name) == os.Getpid() {
			list = append(list, pid)
		}
	}
	return list
}

// parent returns the parent of a process, 0 when it is gone. The name of the
// program, in parentheses, may hold anything.
func parent(pid string) int {
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
