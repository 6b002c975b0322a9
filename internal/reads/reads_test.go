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
		"a": "a", "b": "b", "dir/c": "c", "dir/sub/d": "d", "mod.py": "import dir.e\n", "dir/__init__.py": "", "dir/e.py": "",
		"script": "#!/bin/sh\necho script $1\n", "chain": "#!" + root + "/script\n",
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
		if tracer, err = reads.Start(cmd, below); err != nil {
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
		}{{a.Opened, "o"}, {a.Executed, "x"}, {a.Asked, "a"}, {a.Wrote, "w"}, {a.MadeFirst, "m"}} {
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

func TestShells(t *testing.T) {
	tests := map[string]struct {
		script string
		want   []string
	}{
		"opened": {"cat a", []string{`o "a"`}},
		"vain":   {"cat missing no/such; [ -e x ]; true", []string{`o "missing"`, `o "no/such"`, `a "x"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := world(t)
			r := trace(t, root, []string{root}, "/bin/sh", "-c", test.script)
			got := r.lines(root)
			got = slices.DeleteFunc(got, func(s string) bool { return strings.HasSuffix(s, `"`+root+`"`) })
			if !slices.Equal(got, test.want) || r.record.Partial != "" {
				t.Errorf("got %q %q\nwant %q\n%s", got, r.record.Partial, test.want, r.out)
			}
		})
	}
}
