package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// alone runs some milliseconds and notes when it meets another of its kind: it
// holds a lock, and so does a grandchild that leaves the group, for longer.
func alone(lock, number string) {
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	must(err)
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		must(os.WriteFile(lock+".met", nil, 0o600))
		os.Exit(7)
	}
	i, err := strconv.Atoi(number)
	must(err)
	start(&syscall.SysProcAttr{Setsid: i%2 == 0}, f)
	time.Sleep(time.Duration(5+i%20) * time.Millisecond)
	fmt.Println("done")
}

// doubtful ends as its kind says, on base and on head, and notes when it meets another
// one: a child of it holds the lock, too.
func doubtful(file, kind string, onBase bool) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	must(err)
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		must(os.WriteFile(file+".met", nil, 0o600))
		os.Exit(8)
	}
	start(&syscall.SysProcAttr{}, f)
	time.Sleep(20 * time.Millisecond)
	said, err := os.ReadFile(file)
	must(err)
	switch {
	case kind == "broken":
		fmt.Println("no owner")
	case onBase || kind == "flakes" && len(said) >= 2:
		os.Exit(0)
	case kind == "fault":
		fmt.Println("no role")
	default:
		_, err := f.WriteString(".")
		must(err)
		fmt.Println("connection reset by peer")
	}
	os.Exit(7)
}

// family starts a child in its group and one that leaves it, and notes all ids.
func family(file string) {
	near, far := start(&syscall.SysProcAttr{}), start(&syscall.SysProcAttr{Setsid: true})
	must(os.WriteFile(file+".new", fmt.Appendf(nil, "%d %d %d", os.Getpid(), near, far), 0o600))
	must(os.Rename(file+".new", file))
	time.Sleep(10 * time.Minute)
}

// start starts a child that sleeps, with files.
func start(attr *syscall.SysProcAttr, files ...*os.File) int {
	self, err := os.Executable()
	must(err)
	child := exec.Command(self) //nolint:noctx // it is to outlive its parent, if nobody ends it
	child.Args = []string{"task", "sleep"}
	child.SysProcAttr, child.ExtraFiles = attr, files
	must(child.Start())
	return child.Process.Pid
}
