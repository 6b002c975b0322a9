package place_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/place"
	"github.com/app-sre/prcheck/world"
	"github.com/app-sre/prcheck/wrapper"
)

// user is one that gets copies where hard links would do for others.
var user = place.User{Name: "it", UsesFiles: true}

// A change is a checkout with an edit, and the places of both sides.
type change struct {
	*testing.T
	dir    string
	places *place.Places
}

func newChange(t *testing.T) change {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := change{T: t, dir: dir}
	c.write("ci/rule", "base\n")
	c.write(".gitignore", "build/\n")
	c.git("init", "-q", "-b", "main")
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "base")
	c.write("ci/rule", "head\n")
	c.write("new", "")
	c.write("build/tool", "built\n")
	side := func(open func() (*world.Tree, error)) place.Side { return open }
	c.places = &place.Places{
		Folder: filepath.Join(dir, "ci"), Keeper: world.Keeper{Dir: filepath.Join(t.TempDir(), "worlds")},
		Base: side(func() (*world.Tree, error) { return world.OfCommit(t.Context(), dir, "HEAD") }),
		Head: side(func() (*world.Tree, error) {
			return world.OfWorkTree(t.Context(), dir, world.WorkTreeOptions{})
		}),
		Others: func() ([]string, error) { return world.Ignored(t.Context(), dir) },
	}
	t.Cleanup(func() {
		if err := c.places.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c change) git(args ...string) {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), "git", append([]string{"-C", c.dir, "-c", "user.name=x",
		"-c", "user.email=x@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (c change) write(name, text string) {
	c.Helper()
	name = filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		c.Fatal(err)
	}
}

// says runs a shell in a place and returns what it prints.
func (c change) says(at place.Place, err error, script string) string {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
	var out strings.Builder
	process := wrapper.Process{Command: func(plan.Task) (wrapper.Command, error) {
		return wrapper.Command{Argv: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")},
			Dir: at.Folder, Enter: at.Enter}, nil
	}}
	if err := process.Run(c.Context(), plan.Task{ID: "a"}, &out); err != nil {
		c.Errorf("%s: %v: %s", script, err, out.String())
	}
	if err := at.Close(); err != nil {
		c.Error(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// Each task sees the files of its side, its own writes, and nobody else's.
func TestPlaces(t *testing.T) {
	c := newChange(t)
	const look = "cat rule; ls ..; git status --porcelain rule new | wc -l; cat ../build/tool 2>/dev/null; " +
		"echo mine >rule; echo x >../mine; cat rule"
	for range 2 { // the second time, nothing of the first is there
		at, err := c.places.OnBase(t.Context(), user)
		if got := c.says(at, err, look); got != "base ci 0 mine" {
			t.Errorf("on base: got %q", got)
		}
		at, err = c.places.OnHead(t.Context(), user)
		if got := c.says(at, err, look); got != "head build ci new 1 built mine" {
			t.Errorf("on head: got %q", got)
		}
	}
	for name, want := range map[string]string{"ci/rule": "head\n", "build/tool": "built\n"} {
		if raw, err := os.ReadFile(filepath.Join(c.dir, name)); err != nil || string(raw) != want {
			t.Errorf("%s of the checkout: got %q, %v", name, raw, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(c.dir, "mine")); err == nil {
		t.Error("a task wrote into the checkout")
	}
}

// What the settings declare of the ignored files is there on base, too.
func TestEnvironment(t *testing.T) {
	c := newChange(t)
	c.places.Environment = []string{"build"}
	at, err := c.places.OnBase(t.Context(), user)
	if got := c.says(at, err, "cat rule ../build/tool"); got != "base built" {
		t.Errorf("got %q", got)
	}
}

// A task that uses no file of the repository starts in the checkout, and so do all tasks on head
// in a job.
func TestInPlace(t *testing.T) {
	c := newChange(t)
	for _, inPlace := range []bool{false, true} {
		c.places.InPlace = inPlace
		at, err := c.places.OnHead(t.Context(), place.User{UsesFiles: inPlace})
		if err != nil || at.IsView() || at.Root != c.dir || at.Folder != filepath.Join(c.dir, "ci") || at.World == nil {
			t.Errorf("got %+v, %v", at, err)
		}
	}
}

// A world that cannot be made is an error, for each task.
func TestNoWorld(t *testing.T) {
	c := newChange(t)
	c.places.Keeper.Dir = filepath.Join(c.dir, "ci", "rule", "worlds")
	for range 2 {
		if _, err := c.places.OnBase(t.Context(), user); err == nil {
			t.Error("a world was made below a file")
		}
	}
}

func TestWhyNotBase(t *testing.T) {
	known := func() (*world.Tree, error) { return nil, nil }
	for _, tt := range []struct {
		name string
		in   *place.Places
		uses bool
		why  bool
	}{
		{"base's files are known", &place.Places{Base: known}, true, false},
		{"they are not known", &place.Places{}, true, true},
		{"the task uses none", &place.Places{}, false, false},
		{"the folder is nobody's", &place.Places{Shared: true}, true, false},
	} {
		if got := tt.in.WhyNotBase(tt.uses); (got != "") != tt.why {
			t.Errorf("%s: got %q", tt.name, got)
		}
	}
}
