package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/app-sre/prcheck/internal/script"
)

// ways are how containers take rights from a runner. Not recorded says that the runner may record nothing there.
var ways = []struct {
	name        string
	argv        []string
	notRecorded bool
}{
	{name: "as it is", argv: []string{"env"}},
	{name: "another user", argv: strings.Fields("setpriv --reuid=65534 --regid=65534 --clear-groups")},
	{name: "another user without rights", argv: strings.Fields(
		"setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all")},
	{name: "root without capabilities", argv: strings.Fields("setpriv --bounding-set=-all --inh-caps=-all --no-new-privs")},
	{name: "a user that nobody knows", argv: strings.Fields("unshare -U")},
	{name: "root of a namespace", argv: strings.Fields("unshare -Urm")},
	{name: "processes of its own", argv: strings.Fields("unshare -pf --mount-proc")},
	{name: "without /proc", argv: []string{"unshare", "-m", "sh", "-c", `mount -t tmpfs none /proc && exec "$@"`, "sh"},
		notRecorded: true},
	{name: "a cache that cannot be written", argv: []string{"env", "XDG_CACHE_HOME=/proc/none"}, notRecorded: true},
}

// Whatever rights a container takes away, a task that head breaks is red, and a task is skipped only where its run was
// recorded.
func TestContained(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	runner := visibleRunner(t)
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			dir, home := newContained(t)
			run := func() (code int, text string) {
				argv := append(slices.Clone(way.argv[1:]), runner, "precheck", "--base", "git:main",
					"--progress", "none", "--logs", filepath.Join(home, "logs"), "-v")
				cmd := exec.CommandContext(t.Context(), way.argv[0], argv...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "CI=", "GITLAB_CI=",
					"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
				return script.Output(t, cmd)
			}
			probe := slices.Concat(way.argv[1:], []string{"sh", "-c", "test -r " + runner + " && " + runner + " --help"})
			if out, err := exec.CommandContext(t.Context(), way.argv[0], probe...).CombinedOutput(); err != nil {
				t.Skipf("not allowed here: %q: %v\n%s", probe, err, out)
			}
			code, text := run()
			if code != 1 || !strings.Contains(text, "FAILED: 1 of 2 tasks did not pass") {
				t.Errorf("the first run: got %d\n%s", code, text)
			}
			if err := os.WriteFile(filepath.Join(dir, "README"), []byte("another one\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			want := "FAILED: 1 of 1 task did not pass"
			if way.notRecorded {
				want = "FAILED: 1 of 2 tasks did not pass"
			}
			if code, text := run(); code != 1 || !strings.Contains(text, want) {
				t.Errorf("the second run: got %d\n%s", code, text)
			}
		})
	}
}

// visibleRunner returns the program runner where other users find it.
func visibleRunner(t *testing.T) string {
	t.Helper()
	found, err := filepath.EvalSymlinks(script.Program(t, "runner"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(visibleFolder(t), "runner")
	if err := os.Link(found, name); err != nil {
		return found
	}
	return name
}

// visibleFolder returns a folder where other users find it.
func visibleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // it is a folder of this test
		t.Fatal(err)
	}
	return dir
}

// newContained makes a checkout whose head breaks one of two tasks, and an empty home. Everybody may write to both.
func newContained(t *testing.T) (dir, home string) {
	t.Helper()
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir, home = visibleFolder(t), visibleFolder(t)
	archive, err := txtar.ParseFile(filepath.Join("testdata", "script", "own_files.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range archive.Files {
		name, ours := strings.CutPrefix(f.Name, "repo/")
		if ours && !strings.HasPrefix(name, "data/integrations/") && !strings.HasSuffix(name, ".sh") {
			write(name, string(f.Data))
		}
	}
	for name, text := range map[string]string{"breaks": "sh ./helper.sh\n", "reads": "cat helper.sh\n"} {
		write(name+".sh", text)
		write("data/integrations/"+name+".yml", fmt.Sprintf("---\n$schema: /app-sre/integration-1.yml\nname: %s\nschemas:\n"+
			"- /access/user-1.yml\npr_check:\n  cmd: %s.sh\n", name, name))
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=ana",
			"-c", "user.email=ana@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	write("helper.sh", "exit 0\n")
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "base")
	git("switch", "-q", "-c", "feature")
	write("helper.sh", "echo ERROR: broken; exit 3\n")
	write("data/users/bob.yml", "---\n$schema: /access/user-1.yml\nname: bob\n")
	git("add", "-A")
	git("commit", "-q", "-m", "bob")
	for _, folder := range []string{dir, home} {
		err := filepath.WalkDir(folder, func(name string, e os.DirEntry, err error) error {
			mode := os.FileMode(0o666)
			if err == nil && e.IsDir() {
				mode = 0o777
			}
			return errors.Join(err, os.Chmod(name, mode)) //nolint:gosec // for the other user
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, home
}
