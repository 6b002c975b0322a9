//go:build linux && amd64

package reads_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The helper is a static program that does not use a library of C.
func TestStaticProgram(t *testing.T) {
	var threads []string
	for i := range 100 {
		for j := range 20 {
			threads = append(threads, fmt.Sprintf(`a "t%d-%d"`, i, j))
		}
	}
	tests := []struct {
		name string
		want []string
	}{
		{"at", []string{`a "dir"`, `o "dir/openat"`, `a "dir/newfstatat"`, `a "dir/statx"`, `a "dir/faccessat"`,
			`a "dir/faccessat2"`, `a "dir/readlinkat"`, `aw "dir/unlinkat"`, `wm "dir/mkdirat"`, `aw "dir/renameat"`,
			`w "dir/to/renameat"`, `aw "dir/renameat2"`, `w "dir/to/renameat2"`, `a "dir/linkat"`,
			`w "dir/to/linkat"`, `w "dir/to/symlinkat"`, `aw "dir/fchmodat"`, `aw "dir/fchownat"`,
			`aw "dir/utimensat"`, `a "dir/handle"`, `a "getxattr"`, `a "lstat"`, `a "statfs"`, `a "watched"`,
			`aw "truncate"`, `a "quotactl"`, `o "uselib"`, `ow "acct"`, `ow "swapon"`, `a "swapoff"`}},
		{"how", []string{`o "dir/c"`}},
		{"exclusive", []string{`owm "new"`, `ow "a"`}},
		{"failed", []string{`aw "missing"`, `w "target"`, `w "no/such"`, `w "a"`, `w "l"`}},
		{"replaced", []string{`aw "b"`, `oaw "link"`, `o "a"`}},
		{"exchanged", []string{`aw "a"`, `aw> "dir"`}},
		{"own folder", []string{`a "dir"`, `o "b"`, `o "dir/c"`, `o "dir/e.py"`}},
		{"fchdir", []string{`o "dir"`, `a "a"`, `a "dir/c"`}},
		{"common", []string{`a "a"`, `a "dir"`, `a "dir/c"`}},
		{"threads", threads},
		{"exec", []string{`o "b"`}},
		{"thread", []string{`a "busy"`, `o "b"`}},
		{"execveat", []string{`oxa "script"`}},
		{"no signals", []string{`a "between"`, `o "a"`}},
		{"io_uring", nil},
		{"harmless", nil},
		{"null", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := world(t)
			r := helper(t, root, []string{root}, test.name)
			r.check(t, root, "", test.want...)
			if r.status.ExitStatus() != 0 {
				t.Errorf("it ended with %v: %s", r.status, r.out)
			}
		})
	}
}

func TestPartial(t *testing.T) {
	for name, want := range map[string]string{
		"chroot":      "it changed its root",
		"mount":       "it changed what is mounted",
		"attributes":  "it changed what is mounted",
		"unshare":     "a process entered a new namespace or left the record",
		"clone3":      "a process entered a new namespace or left the record",
		"handle":      "it opened a file without a name",
		"ptrace":      "it traced a process itself",
		"listener":    "it let another process answer its calls",
		"bad address": "the memory of a process cannot be read",
		"x32":         "a program of another kind than amd64 ran",
	} {
		t.Run(name, func(t *testing.T) {
			root := world(t)
			helper(t, root, []string{root}, name).check(t, root, want)
		})
	}
}

// A link that can be opened only by a relative name is not followed, so the record says so.
func TestDeep(t *testing.T) {
	root := world(t)
	r := helper(t, root, []string{root}, "deep")
	if r.status.ExitStatus() != 0 || r.record.Partial != "a name is too long to be followed" {
		t.Errorf("got partial %q, %v: %s", r.record.Partial, r.status, r.out)
	}
}

// Many short children, each of which reads a name of its own.
func TestManyChildren(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 100
	}
	root := world(t)
	r := trace(t, root, []string{root}, "/bin/sh", "-c",
		fmt.Sprintf(`i=0; while [ $i -lt %d ]; do ( [ -e c$i ] ) & i=$((i+1)); `, n)+
			`[ $((i % 50)) = 0 ] && wait; done; wait`)
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprintf(`a "c%d"`, i)
	}
	r.check(t, root, "", want...)
}

func TestEnding(t *testing.T) {
	tests := map[string]struct {
		script, partial string
		code            int
		signal          unix.Signal
	}{
		"code":        {"exit 3", "", 3, -1},
		"signal":      {"kill -9 $$", "", -1, unix.SIGKILL},
		"trap":        {"kill -TRAP $$", "", -1, unix.SIGTRAP},
		"stopped":     {"kill -STOP $$; exit 4", "", 4, -1},
		"left behind": {"sleep 60 & exit 5", "", 5, -1},
		"left its group": {"setsid sleep 60 & " +
			"while [ ! -e /proc/$!/stat ] || grep -qv sleep /proc/$!/comm; do :; done; exit 6",
			"a process that left its group was ended", 6, -1},
		"killed in calls": {"(while :; do [ -e a ]; done) & sleep 0.1; kill -9 $!; wait $!; exit 7", "", 7, -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := world(t)
			r := trace(t, root, []string{root + "/none"}, "/bin/sh", "-c", test.script)
			if r.record.Partial != test.partial || r.status.ExitStatus() != test.code ||
				unix.Signal(r.status.Signal()) != test.signal {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// Folders are told as they were given, also through links, and names outside that lead in
// are found.
func TestBelow(t *testing.T) {
	root := world(t)
	outside := world(t)
	if err := unix.Symlink(root+"/dir", outside+"/in"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Symlink(root+"/a", outside+"/file"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Symlink(root, outside+"/world"); err != nil {
		t.Fatal(err)
	}
	script := "cat in/c file b world/b; ln -s " + root +
		"/dir/sub later; cat later/d; cat world/../a 2>/dev/null; echo $PWD"
	want := []string{`o "a"`, `o "b"`, `o "dir/c"`, `o "dir/sub/d"`}
	for _, given := range []string{root, root + "/", outside + "/world"} {
		unix.Unlink(outside + "/later")
		r := trace(t, outside, []string{given}, "/bin/sh", "-c", script)
		got := r.lines(strings.TrimSuffix(given, "/"))
		if !slices.Equal(slices.DeleteFunc(got, func(s string) bool { return strings.Contains(s, `"/`) }), want) {
			t.Errorf("%s: got %q, want %q", given, got, want)
		}
	}
}

// The current folder of a program without threads is remembered, and forgotten when a descriptor changes it.
func TestFolderOfADescriptor(t *testing.T) {
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		t.Skip(err)
	}
	root := world(t)
	r := trace(t, root, []string{root}, python, "-I", "-S", "-c",
		"import os\nos.path.exists('a'); os.fchdir(os.open('dir', os.O_RDONLY)); os.path.exists('c')")
	r.check(t, root, "", `a "a"`, `o "dir"`, `a "dir/c"`)
}
