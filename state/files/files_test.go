package files_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/world"
)

// A checkout is a repository with some files.
type checkout struct {
	*testing.T
	dir string
}

func newCheckout(t *testing.T) checkout {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := checkout{t, dir}
	for name, text := range map[string]string{
		".gitignore": "build/\n*.local\n__pycache__/\n", "tool.py": "1", "conf/a.txt": "a", "conf/b.txt": "b",
		"lib/x/y.py": "y", "README": "r",
	} {
		c.write(name, text)
	}
	if err := os.Symlink("tool.py", filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	c.git("init", "-q")
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "one")
	return c
}

func (c checkout) git(args ...string) {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), "git",
		append([]string{"-C", c.dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (c checkout) write(name, text string) {
	c.Helper()
	name = filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// world returns the files of the working tree.
func (c checkout) world() files.World {
	c.Helper()
	tree, err := world.OfWorkTree(c.Context(), c.dir, world.WorkTreeOptions{})
	if err != nil {
		c.Fatal(err)
	}
	others, err := world.Ignored(c.Context(), c.dir)
	if err != nil {
		c.Fatal(err)
	}
	return files.World{Tree: tree, Root: c.dir, Others: others}
}

// opened returns a record of names below the checkout that were opened.
// ranSince returns a run in the checkout itself that wrote nothing.
func ranSince(since time.Time) files.Run { return files.Run{Since: since, InPlace: true} }

func (c checkout) opened(names ...string) reads.Record {
	var rec reads.Record
	for _, n := range names {
		rec.Accesses = append(rec.Accesses, reads.Access{Name: filepath.Join(c.dir, n), Opened: true})
	}
	return rec
}

// Only a change of what was read counts: files, their modes, links, listings and vain look-ups.
func TestChanged(t *testing.T) {
	for _, tt := range []struct {
		name string
		read []string
		edit func(checkout)
		want string // the path that differs; "" for none
	}{
		{"nothing", []string{"tool.py", "conf", "gone"}, func(checkout) {}, ""},
		{"a file that was read", []string{"tool.py"}, func(c checkout) { c.write("tool.py", "2") }, "tool.py"},
		{"a file that was not read", []string{"tool.py"}, func(c checkout) { c.write("README", "2") }, ""},
		{"a mode", []string{"tool.py"}, func(c checkout) { _ = os.Chmod(filepath.Join(c.dir, "tool.py"), 0o755) },
			"tool.py"},
		{"it is gone", []string{"tool.py"}, func(c checkout) { _ = os.Remove(filepath.Join(c.dir, "tool.py")) },
			"tool.py"},
		{"a link", []string{"run"}, func(c checkout) {
			_ = os.Remove(filepath.Join(c.dir, "run"))
			_ = os.Symlink("README", filepath.Join(c.dir, "run"))
		}, "run"},
		{"a name in a listed folder", []string{"conf"}, func(c checkout) { c.write("conf/c.txt", "") }, "conf"},
		{"an ignored name in a listed folder", []string{"conf"}, func(c checkout) { c.write("conf/c.local", "") },
			"conf"},
		{"a module that was compiled", []string{"lib"}, func(c checkout) { c.write("lib/__pycache__/y.pyc", "") }, ""},
		{"the content of a file in a listed folder", []string{"conf"}, func(c checkout) { c.write("conf/a.txt", "2") },
			""},
		{"a name in another folder", []string{"conf"}, func(c checkout) { c.write("lib/new.py", "") }, ""},
		{"a new folder in a listed one", []string{"lib"}, func(c checkout) { c.write("lib/z/new.py", "") }, "lib"},
		{"a name that was looked for in vain", []string{"gone"}, func(c checkout) { c.write("gone", "") }, "gone"},
		{"a folder in place of a vain look-up", []string{"gone"}, func(c checkout) { c.write("gone/x", "") }, "gone"},
		{"an ignored file", []string{"build/rule"}, func(c checkout) { c.write("build/rule", "deny") }, "build/rule"},
		{"another commit", []string{".git/HEAD"},
			func(c checkout) { c.git("commit", "-q", "--allow-empty", "-m", "two") }, ".git"},
		{"a new file after another commit", []string{"tool.py"},
			func(c checkout) { c.git("commit", "-q", "--allow-empty", "-m", "two") }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCheckout(t)
			c.write("build/rule", "allow")
			list, partial := c.world().Of(files.RunOf(c.opened(tt.read...), c.dir, c.dir))
			if partial != "" {
				t.Fatal(partial)
			}
			tt.edit(c)
			if got, _ := c.world().Changed(list); got != tt.want {
				t.Errorf("got %q, want %q; read %v", got, tt.want, list)
			}
		})
	}
}

// What a task made itself does not count, and what it read of the checkout itself makes the list
// partial.
func TestOf(t *testing.T) {
	c := newCheckout(t)
	rec := c.opened("tool.py")
	rec.Accesses = append(rec.Accesses,
		reads.Access{Name: filepath.Join(c.dir, "made"), Opened: true, Wrote: true, MadeFirst: true},
		reads.Access{Name: "/elsewhere/x", Opened: true}, reads.Access{Name: filepath.Join(c.dir, "conf"), Asked: true})
	list, partial := c.world().Of(files.RunOf(rec, c.dir, c.dir))
	if got := list.Paths(); partial != "" || !reflect.DeepEqual(got, []string{"conf", "tool.py"}) {
		t.Errorf("got %q, %q", got, partial)
	}
	if _, partial := c.world().Of(files.RunOf(c.opened("README"), "/view", c.dir)); !strings.Contains(partial, "README") {
		t.Errorf("of another root: got %q", partial)
	}
	program := reads.Record{Accesses: []reads.Access{{Name: filepath.Join(c.dir, "tool.py"), Executed: true}}}
	if _, partial := c.world().Of(files.RunOf(program, "/view", c.dir)); !strings.Contains(partial, "tool.py") {
		t.Errorf("of a program: got %q", partial)
	}
	if _, partial := c.world().Of(files.RunOf(c.opened("x\xff"), c.dir, c.dir)); !strings.Contains(partial, `"x\xff"`) {
		t.Errorf("of a name that is no text: got %q", partial)
	}
	refused := reads.Record{Partial: "ptrace is refused"}
	if _, partial := c.world().Of(files.RunOf(refused, c.dir, c.dir)); partial != refused.Partial {
		t.Errorf("got %q", partial)
	}
}

// A file that is not of the side, and that was there when the task first used it, makes the list partial: the list says
// that nothing is there. A file of the task itself does not.
func TestOfAFileOfSomebodyElse(t *testing.T) {
	c := newCheckout(t)
	for wrote, want := range map[string]string{"": `it found "cache/x", which is not of its side`, "cache/x": "",
		"cache": "", "cach": `it found "cache/x", which is not of its side`} {
		rec := reads.Record{Accesses: []reads.Access{{Name: filepath.Join(c.dir, "cache/x"), Opened: true, Seen: true}}}
		if wrote != "" {
			rec.Accesses = append(rec.Accesses, reads.Access{Name: filepath.Join(c.dir, wrote), Wrote: true})
		}
		if list, partial := c.world().Of(files.RunOf(rec, c.dir, c.dir)); partial != want ||
			list[len(list)-1].Found != "missing" {
			t.Errorf("wrote %q: got %q, want %q", wrote, partial, want)
		}
	}
	rec := c.opened("cache/x")
	if _, partial := c.world().Of(files.RunOf(rec, c.dir, c.dir)); partial != "" {
		t.Errorf("a vain look-up: got %q", partial)
	}
}

// What a task reads below a folder that it moved has another name, unless it made the folder.
func TestOfAMovedFolder(t *testing.T) {
	c := newCheckout(t)
	for name, want := range map[string]string{"conf": `it moved the folder "conf"`, "scratch": ""} {
		moved := reads.Access{Name: filepath.Join(c.dir, name), Asked: true, Wrote: true, Moved: true}
		rec := reads.Record{Accesses: []reads.Access{moved}}
		if _, partial := c.world().Of(files.RunOf(rec, c.dir, c.dir)); partial != want {
			t.Errorf("%s: got %q, want %q", name, partial, want)
		}
	}
}

// A list that was edited in the state does not count, and neither does another one in its place.
func TestStore(t *testing.T) {
	c := newCheckout(t)
	dir, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := files.NewStore(dir)
	list, _ := c.world().Of(files.RunOf(c.opened("tool.py", "conf"), c.dir, c.dir))
	id, err := s.Save(t.Context(), "it", list)
	if err != nil || !id.IsRecorded() {
		t.Fatal(id, err)
	}
	if got, err := s.Load(t.Context(), "it", id); err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("got %v, %v, want %v", got, err, list)
	}
	if _, err := s.Load(t.Context(), "other", id); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("of another integration: got %v", err)
	}
	entries, err := dir.List(t.Context(), "files")
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	raw, err := dir.Read(t.Context(), entries[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Write(t.Context(), entries[0].Key,
		[]byte(strings.Replace(string(raw), "tool.py", "tool.p", 1))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), "it", id); !errors.Is(err, state.ErrCorrupt) {
		t.Errorf("of an edited list: got %v", err)
	}
}

// A file that changes while a task runs in the checkout is found, unless the task wrote it.
func TestChangedOnDisk(t *testing.T) {
	c := newCheckout(t)
	w := c.world()
	list, _ := w.Of(files.RunOf(c.opened("tool.py", "conf", "run", "gone"), c.dir, c.dir))
	if name, isOther := w.ChangedMeanwhile(list, ranSince(began(t))); isOther {
		t.Errorf("nothing changed, got %q", name)
	}
	since := began(t)
	c.write("tool.py", "2")
	if name, _ := w.ChangedMeanwhile(list, ranSince(since)); name != "tool.py" {
		t.Errorf("got %q", name)
	}
	own := files.RunOf(reads.Record{Accesses: []reads.Access{{Name: filepath.Join(c.dir, "tool.py"), Wrote: true}}}, c.dir,
		c.dir)
	own.Since, own.InPlace = since, true
	if name, isOther := w.ChangedMeanwhile(list, own); isOther {
		t.Errorf("the task wrote it, got %q", name)
	}
}

// A file of a commit that git may have converted at checkout is found when it changes, and not before.
func TestChangedOnDiskConverted(t *testing.T) {
	c := newCheckout(t)
	c.write(".gitattributes", "*.py eol=crlf\n")
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "two")
	c.write("tool.py", "1\r\n")
	tree, err := world.OfCommit(t.Context(), c.dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	w := files.World{Tree: tree, Root: c.dir}
	list, _ := w.Of(files.RunOf(c.opened("tool.py", "README"), c.dir, c.dir))
	since := began(t)
	if name, isOther := w.ChangedMeanwhile(list, ranSince(since)); isOther {
		t.Errorf("nothing changed, got %q", name)
	}
	c.write("README", "other")
	later := since.Add(time.Second)
	if err := os.Chtimes(filepath.Join(c.dir, "README"), later, later); err != nil {
		t.Fatal(err)
	}
	if name, _ := w.ChangedMeanwhile(list, ranSince(since)); name != "README" {
		t.Errorf("got %q", name)
	}
}

// began returns a time before what follows.
func began(t *testing.T) time.Time {
	t.Helper()
	time.Sleep(30 * time.Millisecond) // what is changed a moment before may seem to be changed since
	name := filepath.Join(t.TempDir(), "now")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
