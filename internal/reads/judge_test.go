//go:build linux && amd64

package reads_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/app-sre/prcheck/internal/reads"
)

// python returns the path of an interpreter of Python that is no script.
func python(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("there is no Python")
	}
	return "/usr/bin/python3"
}

func TestPython(t *testing.T) {
	root := world(t)
	r := trace(t, root, []string{root}, python(t), "-B", "-c",
		"import sys; sys.path.insert(0, '.'); import mod, subprocess; subprocess.run(['cat', 'a'])")
	got := strings.Join(r.lines(root), ", ")
	for _, want := range []string{`oa "mod.py"`, `oa "dir/__init__.py"`, `oa "dir/e.py"`, `o "a"`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s: %s", got, want, r.out)
		}
	}
	if r.record.Partial != "" {
		t.Errorf("partial: %s", r.record.Partial)
	}
}

// strace is the judge: whatever name below the folder it tells must be recorded.
func TestStrace(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip(err)
	}
	name := regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	random := regexp.MustCompile(`/\.git/t[A-Za-z0-9]{6}$`) // a file for a moment, whose name differs each time
	for what, argv := range map[string][]string{
		"shell": {"/bin/sh", "-c", "ls -lR . >/dev/null; find . -name '*.py' -exec grep -l x {} +; " +
			"cp -r dir copy; rm -r copy; cd dir; test -e nothing; ./../script"},
		"python": {python(t), "-B", "-c",
			"import os, glob, shutil, mod\nfor d, _, f in os.walk('.'):\n [open(d + '/' + n).close() for n in f]\n" +
				"shutil.copytree('dir/sub', 'copy')\nos.stat('dirlink/c')"},
		"git": {"git", "init", "-q", "new"},
	} {
		t.Run(what, func(t *testing.T) {
			root := world(t)
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skip(err)
			}
			t.Setenv("PYTHONPATH", root)
			log := filepath.Join(t.TempDir(), "log")
			options := []string{"-f", "-qq", "-s", "4096", "-y", "-e", "trace=%file", "-o", log}
			judge := exec.Command(strace, append(options, argv...)...)
			judge.Dir = root
			if out, err := judge.CombinedOutput(); err != nil && len(out) > 0 {
				t.Logf("%v: %s", err, out)
			}
			if err := os.RemoveAll(filepath.Join(root, "new")); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(root, "copy")); err != nil {
				t.Fatal(err)
			}
			recorded := map[string]bool{}
			argv[0], _ = exec.LookPath(argv[0])
			for _, a := range trace(t, root, []string{root}, argv...).record.Accesses {
				recorded[a.Name] = true
			}
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "AT_FDCWD") && !strings.Contains(line, "AT_FDCWD<"+root) ||
					strings.Contains(line, "execve(") {
					continue // the arguments of execve are no names
				}
				for _, match := range name.FindAllStringSubmatch(line, -1) {
					n, err := strconv.Unquote(`"` + match[1] + `"`)
					if err == nil && strings.HasPrefix(n, root+"/") && !random.MatchString(n) {
						told++
						if n = filepath.Clean(n); !recorded[n] {
							t.Errorf("%q is not recorded: %s", n, line)
						}
					}
				}
				told += check(t, line, root, recorded)
			}
			if told < 10 {
				t.Errorf("strace told %d names", told)
			}
		})
	}
}

// check looks for the names in a line of strace that are relative to the descriptor before
// them, whose path strace tells. It returns how many there are.
func check(t *testing.T, line, root string, recorded map[string]bool) (told int) {
	at := regexp.MustCompile(`(?:AT_FDCWD|\d+)<([^>]*)>, "((?:[^"\\]|\\.)*)"`)
	for _, match := range at.FindAllStringSubmatch(line, -1) {
		n, err := strconv.Unquote(`"` + match[2] + `"`)
		if err != nil || n == "" || strings.HasPrefix(n, "/") || strings.Contains(n, "..") ||
			strings.Contains(line, "symlink") {
			continue
		}
		n = filepath.Join(match[1], n)
		if n == root || strings.HasPrefix(n, root+"/") {
			told++
			if !recorded[n] {
				t.Errorf("%q is not recorded: %s", n, line)
			}
		}
	}
	return told
}

// A program that this process may not trace is not started at all.
func TestSetUID(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes a program of another user")
	}
	root := world(t)
	text, err := os.ReadFile("/bin/cat")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "cat")
	if err := errors.Join(os.WriteFile(program, text, 0o755), os.Chown(program, 12345, 0),
		os.Chmod(program, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	onThread(func() {
		_, err := reads.Start(exec.Command(program), reads.Scope{})
		if err == nil || !strings.Contains(err.Error(), "set-uid") {
			t.Errorf("got %v", err)
		}
	})
	r := trace(t, root, []string{root}, "/bin/sh", "-c", "./cat a")
	r.check(t, root, "a program with rights of its own ran without them (set-uid, set-gid or capabilities)",
		`x "cat"`, `o "a"`)
}

// A thread whose filter refuses ptrace is told, and starts nothing.
func TestRefused(t *testing.T) {
	onThread(func() { // the filter ends with the thread
		refuse := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PTRACE, Jf: 1},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		}
		if err := install(refuse); err != nil {
			t.Error(err)
			return
		}
		if err := reads.Supported(); !errors.Is(err, syscall.EPERM) {
			t.Errorf("got %v", err)
		}
		if _, err := reads.Start(exec.Command("/bin/true"), reads.Scope{}); !errors.Is(err, syscall.EPERM) {
			t.Errorf("got %v", err)
		}
	})
}

// Whatever call a container refuses, nothing is recorded and that is told, or the record is whole or says that it is not.
func TestRefusedCalls(t *testing.T) {
	root := world(t)
	for _, number := range []uint32{unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
		unix.SYS_SECCOMP, unix.SYS_PRCTL, unix.SYS_WAIT4, unix.SYS_LSTAT, unix.SYS_READLINKAT, unix.SYS_GETPGID} {
		for _, answer := range []unix.Errno{unix.EPERM, unix.ENOSYS} {
			onThread(func() { // the filter ends with the thread
				refuse := []unix.SockFilter{
					{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
					{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: 1},
					{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(answer)},
					{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
				}
				cmd := exec.Command("/bin/cat", "link", "none")
				cmd.Dir = root
				if err := install(refuse); err != nil {
					t.Error(err)
					return
				}
				tracer, err := reads.Start(cmd, reads.Scope{Below: []string{root}})
				if err != nil {
					return
				}
				r := run{record: tracer.Serve(func(syscall.WaitStatus) {})}
				if got := r.lines(root); r.record.Partial == "" &&
					(!slices.Contains(got, `o "a"`) || !slices.Contains(got, `o "none"`)) {
					t.Errorf("call %d refused with %v: got %q", number, answer, got)
				}
			})
		}
	}
}

// A program that cannot be started fails as without a record.
func TestCannotStart(t *testing.T) {
	root := world(t)
	for _, name := range []string{root + "/none", root + "/dir"} {
		want := exec.Command(name).Start()
		onThread(func() {
			if _, err := reads.Start(exec.Command(name), reads.Scope{}); err == nil || err.Error() != want.Error() {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
}
