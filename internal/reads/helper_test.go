//go:build linux && amd64

package reads_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// helperVariable makes this test binary do one of the helpers instead of tests.
const helperVariable = "READS_TEST_HELPER"

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVariable); name != "" {
		if err := helpers()[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, name, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helper runs a helper, recorded, in dir.
func helper(t *testing.T, dir string, below []string, name string, args ...string) run {
	t.Helper()
	t.Setenv(helperVariable, name)
	return trace(t, dir, below, append([]string{"/proc/self/exe"}, args...)...)
}

// helpers are programs, by name. They are static and do calls of their own.
func helpers() map[string]func(args []string) error {
	return map[string]func([]string) error{
		"at":        helpAt,
		"how":       helpHow,
		"exclusive": helpExclusive,
		"failed":    helpFailed,
		"replaced":  helpReplaced,
		"exchanged": func([]string) error {
			return unix.Renameat2(unix.AT_FDCWD, "a", unix.AT_FDCWD, "dir", unix.RENAME_EXCHANGE)
		},
		"own folder": helpOwnFolder,
		"fchdir":     helpFchdir,
		"common":     helpCommonFolder,
		"deep":       helpDeep,
		"threads":    helpThreads,
		"exec":       func([]string) error { return unix.Exec("/bin/cat", []string{"cat", "b"}, nil) },
		"thread":     helpThreadExec,
		"execveat":   helpExecveat,
		"load":       helpLoad,
		"sleep":      func([]string) error { time.Sleep(time.Minute); return nil },
		"no signals": helpSignals,
		"io_uring":   func([]string) error { return expect(unix.ENOSYS, unix.SYS_IO_URING_SETUP, 1, 0) },
		"chroot":     func([]string) error { return ignore(unix.SYS_CHROOT, text("/nowhere")) },
		"mount":      func([]string) error { return ignore(unix.SYS_UMOUNT2, text("/nowhere")) },
		"attributes": func([]string) error { return ignore(unix.SYS_MOUNT_SETATTR, 0, text("/nowhere")) },
		"unshare":    func([]string) error { return ignore(unix.SYS_UNSHARE, unix.CLONE_NEWUSER|unix.CLONE_FILES) },
		"harmless":   func([]string) error { return ignore(unix.SYS_UNSHARE, unix.CLONE_FILES) },
		"handle":     func([]string) error { return ignore(unix.SYS_OPEN_BY_HANDLE_AT) },
		"ptrace":     func([]string) error { return ignore(unix.SYS_PTRACE, unix.PTRACE_TRACEME) },
		"listener": func([]string) error {
			return ignore(unix.SYS_SECCOMP, 1, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, 0)
		},
		"clone3": func([]string) error {
			flags := [11]uint64{unix.CLONE_NEWNS | unix.CLONE_FS} // together they are refused
			return ignore(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&flags)), unsafe.Sizeof(flags))
		},
		"bad address": func([]string) error { return expect(unix.EFAULT, unix.SYS_ACCESS, 8, 0) },
		"null":        func([]string) error { return expect(unix.EFAULT, unix.SYS_ACCESS, 0, 0) },
		"x32":         func([]string) error { return ignore(0x40000000+unix.SYS_ACCESS, text("a")) },
	}
}

// text returns the address of a text with a zero at its end.
func text(s string) uintptr {
	p, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	return uintptr(unsafe.Pointer(p))
}

// call does a call.
func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

func ignore(number uintptr, args ...uintptr) error {
	_ = call(number, args...)
	return nil
}

func expect(want error, number uintptr, args ...uintptr) error {
	if err := call(number, args...); err != want {
		return fmt.Errorf("got %v, want %v", err, want)
	}
	return nil
}

// quotaInfo is the first argument of quotactl that asks about the quota of a user. Whoever may ask
// or not, the answer tells whether the file is there.
const quotaInfo = 0x800007 << 8

// helpAt uses all calls with descriptors of folders.
func helpAt([]string) error {
	dir, err := unix.Open("dir", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	d := uintptr(dir)
	var buffer [4096]byte
	b := uintptr(unsafe.Pointer(&buffer))
	for _, c := range [][]uintptr{
		{unix.SYS_OPENAT, d, text("openat"), 0},
		{unix.SYS_NEWFSTATAT, d, text("newfstatat"), b, 0},
		{unix.SYS_NEWFSTATAT, d, text(""), b, unix.AT_EMPTY_PATH},
		{unix.SYS_STATX, d, text("statx"), 0, unix.STATX_ALL, b},
		{unix.SYS_FACCESSAT, d, text("faccessat"), 0},
		{unix.SYS_FACCESSAT2, d, text("faccessat2"), 0, 0},
		{unix.SYS_READLINKAT, d, text("readlinkat"), b, 10},
		{unix.SYS_UNLINKAT, d, text("unlinkat"), 0},
		{unix.SYS_MKDIRAT, d, text("mkdirat"), 0o755},
		{unix.SYS_RENAMEAT, d, text("renameat"), d, text("to/renameat")},
		{unix.SYS_RENAMEAT2, d, text("renameat2"), d, text("to/renameat2"), 0},
		{unix.SYS_LINKAT, d, text("linkat"), d, text("to/linkat"), 0},
		{unix.SYS_SYMLINKAT, text("target"), d, text("to/symlinkat")},
		{unix.SYS_FCHMODAT, d, text("fchmodat"), 0},
		{unix.SYS_FCHOWNAT, d, text("fchownat"), 0, 0, 0},
		{unix.SYS_UTIMENSAT, d, text("utimensat"), 0, 0},
		{unix.SYS_UTIMENSAT, d, 0, 0, 0},
		{unix.SYS_NAME_TO_HANDLE_AT, d, text("handle"), b, b, 0},
		{unix.SYS_GETXATTR, text("getxattr"), text("user.x"), 0, 0},
		{unix.SYS_LSTAT, text("lstat"), b},
		{unix.SYS_STATFS, text("statfs"), b},
		{unix.SYS_INOTIFY_ADD_WATCH, 99, text("watched"), 1},
		{unix.SYS_TRUNCATE, text("truncate"), 0},
		{unix.SYS_QUOTACTL, quotaInfo, text("quotactl"), 0, b},
		{unix.SYS_USELIB, text("uselib")},
		{unix.SYS_ACCT, text("acct")},
		{unix.SYS_SWAPON, text("swapon"), 0},
		{unix.SYS_SWAPOFF, text("swapoff")},
		{unix.SYS_OPENAT, 77, text("no descriptor"), 0},
		{unix.SYS_OPENAT, 0, text("no folder"), 0},
	} {
		_ = ignore(c[0], c[1:]...)
	}
	return nil
}

// helpHow uses openat2.
func helpHow([]string) error {
	_, err := unix.Openat2(unix.AT_FDCWD, "dir/c", &unix.OpenHow{Flags: unix.O_RDONLY, Resolve: unix.RESOLVE_BENEATH})
	return err
}

// helpExclusive makes one file that is new, and fails to make another.
func helpExclusive([]string) error {
	for _, name := range []string{"new", "a"} {
		if fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600); err == nil {
			_ = unix.Close(fd)
		}
		if _, err := os.ReadFile(name); err != nil {
			return err
		}
	}
	return nil
}

// helpFailed does calls that would make names but fail.
func helpFailed([]string) error {
	_ = unix.Rename("missing", "target")
	_ = unix.Mkdir("no/such", 0o755)
	_ = unix.Symlink("x", "a")
	_ = unix.Link("missing", "l")
	return nil
}

// helpReplaced moves a file to the name of a link, writes it, and reads what the link led to.
func helpReplaced([]string) error {
	if _, err := os.Readlink("link"); err != nil {
		return err
	}
	if err := unix.Rename("b", "link"); err != nil {
		return err
	}
	if err := os.WriteFile("link", nil, 0o600); err != nil {
		return err
	}
	_, err := os.ReadFile("a")
	return err
}

// helpThreads opens many names on a hundred threads at once.
func helpThreads([]string) error {
	var group sync.WaitGroup
	var ready sync.WaitGroup
	ready.Add(100)
	for i := range 100 {
		group.Go(func() {
			runtime.LockOSThread()
			ready.Done()
			ready.Wait() // so that there are a hundred threads
			for j := range 20 {
				var info unix.Stat_t
				_ = unix.Stat("t"+strconv.Itoa(i)+"-"+strconv.Itoa(j), &info)
			}
		})
	}
	group.Wait()
	return nil
}

// helpOwnFolder looks for names of the process and of a thread that has a current folder of its own.
func helpOwnFolder([]string) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good
		if unix.Gettid() == unix.Getpid() {
			done <- helpOwnFolder(nil)
			return
		}
		err := unix.Unshare(unix.CLONE_FS)
		if err == nil {
			err = unix.Chdir("dir")
		}
		for _, name := range []string{"/proc/self/cwd/b", "/proc/thread-self/cwd/c", "e.py"} {
			if _, failure := os.ReadFile(name); err == nil {
				err = failure
			}
		}
		done <- err
	}()
	return <-done
}

// helpFchdir changes its current folder by a descriptor.
func helpFchdir([]string) error {
	fd, err := unix.Open("dir", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	var info unix.Stat_t
	return errors.Join(unix.Stat("a", &info), unix.Fchdir(fd), unix.Stat("c", &info))
}

// helpCommonFolder changes the current folder of all threads on one of them, between uses on another one.
func helpCommonFolder([]string) error {
	var info unix.Stat_t
	asked, changed, done := make(chan error), make(chan error), make(chan error)
	go func() {
		runtime.LockOSThread()
		asked <- unix.Stat("a", &info)
		err := <-changed
		done <- errors.Join(err, unix.Stat("c", &info))
	}()
	runtime.LockOSThread()
	err := <-asked
	changed <- unix.Chdir("dir")
	return errors.Join(err, <-done)
}

// helpDeep opens a link whose absolute name is longer than the kernel takes.
func helpDeep([]string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	part := strings.Repeat("d", 250)
	for range (unix.PathMax - 1 - len(root)) / (len(part) + 1) {
		if err := errors.Join(unix.Mkdir(part, 0o700), unix.Chdir(part)); err != nil {
			return err
		}
	}
	if err := errors.Join(unix.Mkdir(part, 0o700), unix.Symlink(root+"/a", part+"/l")); err != nil {
		return err
	}
	_, err = os.ReadFile(part + "/l")
	return err
}

// helpThreadExec runs a program on a thread that is not the main one, while others run.
func helpThreadExec([]string) error {
	var started sync.WaitGroup
	for range 8 {
		started.Add(1)
		go func() {
			var info unix.Stat_t
			_ = unix.Stat("busy", &info)
			for started.Done(); ; {
				_ = unix.Stat("busy", &info)
			}
		}()
	}
	started.Wait()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			go func() { runtime.LockOSThread(); done <- unix.Exec("/bin/cat", []string{"cat", "b"}, nil) }()
			select {}
		}
		time.Sleep(20 * time.Millisecond)
		done <- unix.Exec("/bin/cat", []string{"cat", "b"}, nil)
	}()
	return <-done
}

// helpExecveat runs the program of a descriptor.
func helpExecveat([]string) error {
	fd, err := unix.Open("script", unix.O_PATH, 0)
	if err != nil {
		return err
	}
	name, err := unix.BytePtrFromString("x")
	if err != nil {
		return err
	}
	argv := []*byte{name, nil}
	return call(unix.SYS_EXECVEAT, uintptr(fd), text(""), uintptr(unsafe.Pointer(&argv[0])), 0, unix.AT_EMPTY_PATH)
}

// helpSignals sleeps in a call that is interrupted by signals and goes on, and asks for files
// in between.
func helpSignals([]string) error {
	signals := make(chan os.Signal, 100)
	signal.Notify(signals, unix.SIGUSR1)
	go func() {
		for { // signals that come together count once
			_ = unix.Kill(unix.Getpid(), unix.SIGUSR1)
			time.Sleep(time.Millisecond)
		}
	}()
	child := exec.Command("/bin/sh", "-c", "kill -STOP $$; cat a")
	if err := child.Start(); err != nil {
		return err
	}
	for range 50 {
		<-signals
		var info unix.Stat_t
		_ = unix.Stat("between", &info)
	}
	_ = child.Process.Signal(unix.SIGCONT)
	return child.Wait()
}

// helpLoad opens, reads and closes a file, and asks for a missing one, many times. All names
// differ if the second argument is "differ".
func helpLoad(args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	begin, cpu := time.Now(), cpuTime(unix.RUSAGE_SELF)
	name, missing := args[2], text(args[2]+".missing")
	for i := range n {
		if args[1] == "differ" {
			name = args[2] + strconv.Itoa(i)
			missing = text(name + ".missing")
		}
		if fd, err := unix.Open(name, unix.O_RDONLY, 0); err == nil {
			_ = unix.Close(fd)
		}
		_ = call(unix.SYS_ACCESS, missing, 0)
	}
	fmt.Println(time.Since(begin).Nanoseconds(), (cpuTime(unix.RUSAGE_SELF) - cpu).Nanoseconds())
	return nil
}

// cpuTime returns the processor time of this process or thread.
func cpuTime(who int) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(who, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// install gives this thread a filter.
func install(program []unix.SockFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&filter)))
}
