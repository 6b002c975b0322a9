package guard

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
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
// a child is gone its own children are ours, so it is done when there is none.
func killAll() {
	for {
		list := children()
		if len(list) == 0 {
			return
		}
		for _, pid := range list {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, pid := range list {
			for {
				if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR { //nolint:errorlint // it is a number
					break // gone, or somebody else has waited for it
				}
			}
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
