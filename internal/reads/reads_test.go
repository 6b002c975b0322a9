//go:build linux && amd64

package reads_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/app-sre/prcheck/internal/reads"
)

// world makes a folder with files, and returns its name without links.
func world(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a": "a", "b": "b", "dir/c": "c", "dir/sub/d": "d", "mod.py": "import dir.e\n", "dir/__init__.py": "",
		"dir/e.py": "", "script": "#!/bin/sh\necho script $1\n", "chain": "#!" + root + "/script\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "a", "dirlink": "dir", "dir/up": "..", "out": "/etc"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A run is a command that was recorded.
type run struct {
	record reads.Record
	status syscall.WaitStatus
	out    string
}

// trace runs a command in dir and records it.
func trace(t *testing.T, dir string, below []string, argv ...string) run {
	t.Helper()
	var r run
	var err error
	onThread(func() {
		var out bytes.Buffer
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		var file *os.File
		if file, err = os.CreateTemp("", "out"); err != nil {
			return
		}
		defer os.Remove(file.Name())
		defer file.Close()
		cmd.Stdout, cmd.Stderr = file, file
		var tracer *reads.Tracer
		if tracer, err = reads.Start(cmd, reads.Scope{Below: below}); err != nil {
			return
		}
		r.record = tracer.Serve(func(status syscall.WaitStatus) {
			r.status = status
			tracer.Stop()
		})
		_, _ = file.Seek(0, 0)
		_, _ = out.ReadFrom(file)
		r.out = out.String()
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// onThread calls f on a thread of its own that is not the main thread.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			onThread(f)
			return
		}
		f()
	}()
	<-done
}

// lines returns the accesses, one in a line, with names below root.
func (r run) lines(root string) []string {
	var lines []string
	for _, a := range r.record.Accesses {
		marks := ""
		for _, m := range []struct {
			set  bool
			mark string
		}{{a.Opened, "o"}, {a.Executed, "x"}, {a.Asked, "a"}, {a.Wrote, "w"}, {a.MadeFirst, "m"}, {a.Moved, ">"}} {
			if m.set {
				marks += m.mark
			}
		}
		name, _ := strings.CutPrefix(a.Name, root+"/")
		lines = append(lines, fmt.Sprintf("%s %q", marks, name))
	}
	return lines
}

func TestSupported(t *testing.T) {
	if err := reads.Supported(); err != nil {
		t.Fatal(err)
	}
}

// check compares what a command used below root, apart from root itself.
func (r run) check(t *testing.T, root, partial string, want ...string) {
	t.Helper()
	got := slices.DeleteFunc(r.lines(root), func(s string) bool { return strings.HasSuffix(s, `"`+root+`"`) })
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || r.record.Partial != partial {
		t.Errorf("got  %q, partial %q\nwant %q, partial %q\noutput %s", got, r.record.Partial, want, partial, r.out)
	}
}

func TestShells(t *testing.T) {
	tests := map[string]struct {
		script string
		want   []string
	}{
		"opened":             {"cat a", []string{`o "a"`}},
		"vain":               {"cat missing no/such; [ -e x ]; true", []string{`o "missing"`, `o "no/such"`, `a "x"`}},
		"listing":            {"ls dir >/dev/null", []string{`oa "dir"`}},
		"glob":               {"echo dir/s*", []string{`o "dir"`}},
		"after cd":           {"cd dir/sub; cat d ../c", []string{`a "dir/sub"`, `o "dir/sub/d"`, `o "dir/c"`}},
		"children":           {"(cat a) & (cat b | cat) & wait", []string{`o "a"`, `o "b"`}},
		"link":               {"cat link", []string{`o "link"`, `o "a"`}},
		"written link":       {"echo x >link; cat link a", []string{`ow "link"`, `owm "a"`}},
		"text of a link":     {"readlink link", []string{`a "link"`}},
		"link of a folder":   {"cat dirlink/c", []string{`o "dirlink/c"`, `o "dir/c"`, `a "dirlink"`}},
		"above a link":       {"cat dirlink/../b", []string{`o "b"`, `a "dirlink"`}},
		"up and down":        {"cat dir/up/a", []string{`o "a"`, `o "dir/up/a"`, `a "dir/up"`}},
		"out":                {"cat out/passwd >/dev/null", []string{`a "out"`, `o "out/passwd"`}},
		"dots":               {"cat ./dir/.//c", []string{`o "dir/c"`}},
		"redirect":           {"echo x >new; cat new", []string{`owm "new"`}},
		"read, then written": {"cat a; echo x >a", []string{`ow "a"`}},
		"appended":           {"echo x >>a", []string{`ow "a"`}},
		"made folder":        {"mkdir made; ls made", []string{`oawm "made"`}},
		"folder was there":   {"mkdir dir; ls dir", []string{`oaw "dir"`}},
		"moved":              {"mv a c", []string{`aw "a"`, `wm "c"`}},
		"current folder": {"[ -e a ]; cd dir; [ -e c ]; (cd sub; [ -e d ]); [ -e c ]; cd ..; [ -e b ]", []string{`a "a"`,
			`a "dir"`, `a "dir/c"`, `a "dir/sub"`, `a "dir/sub/d"`, `a "b"`}},
		"moved current folder": {"cd dir; [ -e c ]; mv ../dir ../to; [ -e e.py ]", []string{`aw> "dir"`, `a "dir/c"`, `wm "to"`,
			`a "to/e.py"`}},
		"moved folder": {"mv dir to; cat to/c", []string{`aw> "dir"`, `wm "to"`, `o "to/c"`}},
		"new link":     {"ln -s a l; cat l", []string{`owm "l"`, `o "a"`}},
		"link is gone": {"[ -e dirlink/c ]; rm dirlink; mkdir dirlink; echo x >dirlink/e.py; cat dir/e.py",
			[]string{`a "dirlink/c"`, `a "dir/c"`, `aw "dirlink"`, `owm "dirlink/e.py"`, `o "dir/e.py"`}},
		"script":             {"./script", []string{`ox "script"`}},
		"script of a script": {"./chain", []string{`x "chain"`, `ox "script"`}},
		"script of Windows": {`printf '#! \t./tool\r\n' >s; chmod +x s; ./s; true`,
			[]string{`oxawm "s"`, `x "tool\r"`}},
		"missing program": {"./none", []string{`x "none"`}},
		"self": {"exec 3<a; cat /proc/self/fd/3 /dev/fd/3 /proc/self/cwd/b; cat /proc/$$/cwd/dir/c",
			[]string{`o "a"`, `o "b"`, `o "dir/c"`}},
		"root":           {"cat /proc/self/root$PWD/a", []string{`o "a"`}},
		"hostile":        {`cat "$(printf 'x\ny\377')" "` + "\u00e9" + `"`, []string{`o "x\ny\xff"`, `o "é"`}},
		"setsid":         {"setsid -w cat a", []string{`o "a"`}},
		"signal":         {"sh -c 'cat a; kill -9 $$'", []string{`o "a"`}},
		"trap":           {"trap 'cat a' USR1; kill -USR1 $$", []string{`o "a"`}},
		"deleted folder": {"mkdir gone; cd gone; rmdir ../gone; cat a", []string{`awm "gone"`}},
		"above a deleted": {"mkdir gone; cd gone; rmdir ../gone; cat ../a ./../b",
			[]string{`awm "gone"`, `o "a"`, `o "b"`}},
		"no descriptors": {"exec <&- >&- 2>&-; stat a", []string{`a "a"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := world(t)
			trace(t, root, []string{root}, "/bin/sh", "-c", test.script).check(t, root, "", test.want...)
		})
	}
}

// Seen tells what was there at first, by the name without links, and not what came later.
func TestSeen(t *testing.T) {
	root, long := world(t), strings.Repeat("x", 300) // no file system has such a name
	got := trace(t, root, []string{root}, "/bin/sh", "-c",
		"cat a link dirlink/c dir/up/b ./dir//sub/d gone a/x "+long+
			"; echo new >new; cat new; ln -s b later; cat later; mkdir made; cat made/x; rm a; cat a; true")
	want := map[string]bool{"a": true, "b": true, "link": true, "dirlink": true, "dirlink/c": false, "dir/c": true,
		"dir/up": true, "dir/up/b": false,
		"dir/sub/d": true, "gone": false, "a/x": false, long: false, "new": false, "later": false, "made": false,
		"made/x": false}
	for _, a := range got.record.Accesses {
		name, _ := strings.CutPrefix(a.Name, root+"/")
		if seen, known := want[name]; known && seen != a.Seen {
			t.Errorf("%s: got %t", name, a.Seen)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not in the record: %v", want)
	}
}
