//go:build linux && amd64

package reads_test

import (
	"os"
	"os/exec"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/reads"
)

// shared runs a shell command in a folder in which others may write, and returns what it used there, by path.
func shared(t *testing.T, dir string, in string, script string) map[string]reads.Access {
	t.Helper()
	out := map[string]reads.Access{}
	onThread(func() {
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir = dir
		tracer, err := reads.Start(cmd, reads.Scope{Below: []string{dir}, Shared: []string{dir + in}})
		if err != nil {
			t.Error(err)
			return
		}
		rec := tracer.Serve(func(status syscall.WaitStatus) {
			if status.ExitStatus() != 0 {
				t.Errorf("%q: got %d", script, status.ExitStatus())
			}
		})
		if rec.Partial != "" {
			t.Errorf("%q: got %q", script, rec.Partial)
		}
		for _, a := range rec.Accesses {
			out[a.Name[len(dir):]] = a
		}
	})
	return out
}

// The names of a folder are those before the task changed it.
func TestNamesOfSharedFolders(t *testing.T) {
	for script, want := range map[string]reads.Access{
		"ls dir":                            {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"echo x >dir/own; ls dir":           {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"rm dir/c; ls dir":                  {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"ls dir; rm dir/c; ls dir":          {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"ls dir; echo x >dir/own; ls dir":   {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"ls dir; mv dir/c dir/z; ls dir":    {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"mkdir dir/new; cat a; ls dir":      {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"ls dirlink/":                       {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"cd dir; ls .":                      {Names: []string{"__init__.py", "c", "e.py", "sub", "up"}},
		"[ -e dir/c ]; ls dir/sub >dir/own": {},
	} {
		got := shared(t, world(t), "", script)["/dir"]
		if !reflect.DeepEqual(got.Names, want.Names) || got.Unsteady {
			t.Errorf("%q: got %q, unsteady %t", script, got.Names, got.Unsteady)
		}
	}
	if got := shared(t, world(t), "/dir/sub", "ls dir; ls dir/sub"); got["/dir"].Names != nil ||
		!reflect.DeepEqual(got["/dir/sub"].Names, []string{"d"}) {
		t.Errorf("got %+v", got)
	}
}

// A folder whose names somebody else changes between two looks is unsteady.
func TestUnsteadyFolders(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"more": func(dir string) error { return os.WriteFile(dir+"/dir/more", nil, 0o600) },
		"less": func(dir string) error { return os.Remove(dir + "/dir/c") },
	} {
		dir := world(t)
		changed := make(chan error, 1)
		time.AfterFunc(300*time.Millisecond, func() { changed <- change(dir) })
		got := shared(t, dir, "", "ls dir; while [ -e dir/c ] && [ ! -e dir/more ]; do sleep 0.1; done; ls dir")["/dir"]
		if err := <-changed; err != nil || !got.Unsteady {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// What a task changes is known as it was before.
func TestContentBeforeAChange(t *testing.T) {
	const a = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
	for script, isKnown := range map[string]bool{
		"cat a": false, "cat a; echo x >a": true, "cat a; echo x >>a": true, "cat a; rm a": true, "echo x >>a": true,
		"cat a; mv b a": true, "cat a; mv a b": true, "echo x >a": false, "cat a; echo x >b; mv b a; rm a": true,
	} {
		got := shared(t, world(t), "", script)["/a"]
		if isKnown != (got.Before != nil && got.Before.SHA256 == a && got.Before.IsProgram) {
			t.Errorf("%q: got %+v", script, got.Before)
		}
	}
}
