//go:build linux && amd64

package reads_test

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/reads"
)

// shared runs a shell command in a folder in which others may write, and returns what it used there, by path.
func shared(t *testing.T, dir string, in string, script string) map[string]reads.Access {
	t.Helper()
	out, partial := tried(t, dir, in, script)
	if partial != "" {
		t.Errorf("%q: got %q", script, partial)
	}
	return out
}

// tried is shared for a record that may have a doubt, which it returns.
func tried(t *testing.T, dir string, in string, script string) (out map[string]reads.Access, partial string) {
	t.Helper()
	out = map[string]reads.Access{}
	time.Sleep(30 * time.Millisecond) // what is there is older than the run
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
		partial = rec.Partial
		for _, a := range rec.Accesses {
			out[a.Name[len(dir):]] = a
		}
	})
	return out, partial
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

// What somebody else changed before the task did is not what the task found, and no excuse for it.
func TestChangedByOthersFirst(t *testing.T) {
	for _, c := range []struct {
		name, script string
		change       func(dir string) error
		isRight      func(out map[string]reads.Access, partial string) bool
	}{
		{"looked for in vain, then read and changed", "[ -e dir/q ]; WAIT; cat dir/q; echo mine >>dir/q",
			func(dir string) error { return os.WriteFile(dir+"/dir/q", []byte("theirs"), 0o600) },
			func(_ map[string]reads.Access, partial string) bool { return partial != "" }},
		{"looked for in vain, then made", "[ -e dir/q ]; echo mine >>dir/q; WAIT", nil,
			func(out map[string]reads.Access, partial string) bool { return partial == "" && !out["/dir/q"].Seen }},
		{"read, then changed", "cat a; WAIT; echo mine >>a",
			func(dir string) error { return os.WriteFile(dir+"/a", []byte("theirs"), 0o600) },
			func(out map[string]reads.Access, _ string) bool { return out["/a"].Before == nil }},
		{"read, then replaced and changed", "cat a; WAIT; echo mine >>a",
			func(dir string) error { return os.Rename(dir+"/b", dir+"/a") },
			func(out map[string]reads.Access, _ string) bool { return out["/a"].Before == nil }},
		{"changed, then gone in a listing", "echo >>dir/c; WAIT; ls dir",
			func(dir string) error { return os.Remove(dir + "/dir/c") },
			func(out map[string]reads.Access, _ string) bool { return out["/dir"].Unsteady }},
	} {
		dir := world(t)
		changed := make(chan error, 1)
		time.AfterFunc(300*time.Millisecond, func() {
			var err error
			if c.change != nil {
				err = c.change(dir)
			}
			changed <- errors.Join(err, os.WriteFile(dir+"/flag", nil, 0o600))
		})
		wait := "while [ ! -e flag ]; do sleep 0.05; done"
		out, partial := tried(t, dir, "", strings.ReplaceAll(c.script, "WAIT", wait))
		if err := <-changed; err != nil || !c.isRight(out, partial) {
			t.Errorf("%s: got %+v, %q, %v", c.name, out, partial, err)
		}
	}
}
