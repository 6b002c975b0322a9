package files_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/world"
)

func (c checkout) rename(from, to string) {
	c.Helper()
	if err := os.Rename(filepath.Join(c.dir, from), filepath.Join(c.dir, to)); err != nil {
		c.Fatal(err)
	}
}

// The time of a change may be a little behind the clock by which a task began.
func TestChangedAtOnce(t *testing.T) {
	c := newCheckout(t)
	w := c.world()
	list, _ := w.Of(files.RunOf(c.opened("tool.py"), c.dir, c.dir))
	began(t)
	c.write("tool.py", "1")
	info, err := os.Stat(filepath.Join(c.dir, "tool.py"))
	if err != nil {
		t.Fatal(err)
	}
	for late, want := range map[time.Duration]bool{4 * time.Millisecond: true, 20 * time.Millisecond: false} {
		run := files.Run{Since: world.ChangeTime(info).Add(late), InPlace: true}
		if _, isChanged := w.ChangedMeanwhile(list, run); isChanged != want {
			t.Errorf("begun %v after the change: got %t, want %t", late, isChanged, want)
		}
	}
}

// Where nobody knows what a task read, each file counts that somebody wrote since it began.
func TestFirstChanged(t *testing.T) {
	c := newCheckout(t)
	w, since := c.world(), began(t)
	if got := w.FirstChanged(since); got != "" {
		t.Errorf("nothing changed, got %q", got)
	}
	c.write("conf/b.txt", "2")
	c.write("conf/b.txt", "b")
	if got := w.FirstChanged(since); got != "conf/b.txt" {
		t.Errorf("got %q for a file that was written and restored", got)
	}
}

// What changed while a task ran is found, also if it is as before afterwards.
func TestChangedMeanwhile(t *testing.T) {
	remove := func(c checkout, name string) {
		if err := os.Remove(filepath.Join(c.dir, name)); err != nil {
			c.Fatal(err)
		}
	}
	removeAll := func(c checkout, name string) {
		if err := os.RemoveAll(filepath.Join(c.dir, name)); err != nil {
			c.Fatal(err)
		}
	}
	comesAndGoes := func(name string) func(checkout) {
		return func(c checkout) { c.write(name, "x"); remove(c, name) }
	}
	none := func(checkout) {}
	for name, of := range map[string]struct {
		read    string
		change  func(checkout)
		wrote   string // by the task itself
		inView  bool
		changed string
		before  func(checkout) // what changed before the task began, and after its files were known
	}{
		"a listed file gone before it began": {"conf", none, "", false, "conf", func(c checkout) {
			remove(c, "conf/a.txt")
		}},
		"nothing": {"tool.py", none, "", false, "", nil},
		"another file": {"tool.py", func(c checkout) { c.write("README", "x") }, "", false,
			"", nil},
		"written and restored": {"tool.py", func(c checkout) {
			c.write("tool.py", "2")
			c.write("tool.py", "1")
		}, "", false, "tool.py", nil},
		"removed": {"tool.py", func(c checkout) { remove(c, "tool.py") }, "", false,
			"tool.py", nil},
		"written by the task": {"tool.py", func(c checkout) { c.write("tool.py", "2") },
			"tool.py", false, "", nil},
		"in a view": {"tool.py", func(c checkout) { c.write("tool.py", "2") }, "", true,
			"", nil},
		"a listed file removed and made again": {"conf", func(c checkout) {
			remove(c, "conf/a.txt")
			c.write("conf/a.txt", "a")
		}, "", false, "conf", nil},
		"the same, and another name": {"conf", func(c checkout) {
			remove(c, "conf/a.txt")
			c.write("conf/a.txt", "a")
			c.write("conf/c.tmp", "")
		}, "", false, "conf", nil},
		"a listed file gone, and another name": {"conf", func(c checkout) {
			remove(c, "conf/a.txt")
			c.write("conf/c.tmp", "")
		}, "", false, "conf", nil},
		"a name in a listed folder came and went": {"conf", comesAndGoes("conf/c.txt"), "", false, "conf", nil},
		"a name in a listed folder came": {"conf", func(c checkout) { c.write("conf/c.tmp", "x") }, "",
			false, "", nil},
		"the task itself made and removed it": {"conf", comesAndGoes("conf/c.txt"), "conf/c.txt", false, "", nil},
		"a file of a listed folder changed": {"conf", func(c checkout) { c.write("conf/a.txt", "2") }, "",
			false, "", nil},
		"a name that was looked for came and went": {"gone", comesAndGoes("gone"), "", false, "gone", nil},
		"a name in a missing folder came and went": {"none/gone", func(c checkout) {
			c.write("none/gone", "")
			remove(c, "none/gone")
			remove(c, "none")
		}, "", false, "none/gone", nil},
		"a name that was looked for came": {"gone", func(c checkout) { c.write("gone", "x") }, "", false,
			"gone", nil},
		"an old file moved to a name that was looked for": {"gone", func(c checkout) { c.rename("build/old.txt", "gone") },
			"", false, "gone", nil},
		"a folder moved away and back": {"conf/a.txt", func(c checkout) {
			c.rename("conf", "aside")
			c.write("conf/a.txt", "other")
			remove(c, "conf/a.txt")
			remove(c, "conf")
			c.rename("aside", "conf")
		}, "", false, "conf/a.txt", nil},
		"a name beside the file came": {"conf/a.txt", func(c checkout) { c.write("conf/c.tmp", "x") }, "", false, "", nil},
		"a listed file made again beside a name of the task": {"conf", func(c checkout) {
			remove(c, "conf/a.txt")
			c.write("conf/a.txt", "a")
			c.write("conf/own", "")
		}, "conf/own", false, "conf", nil},
		"the task moved the folder": {"conf/a.txt", func(c checkout) {
			c.rename("conf", "aside")
			c.rename("aside", "conf")
		}, "conf", false, "", nil},
		"names came in a listed folder and in one below": {"lib", func(c checkout) {
			c.write("lib/new", "")
			c.write("lib/x/new", "")
		}, "", false, "", nil},
		"git works while a name comes and goes": {".", func(c checkout) {
			comesAndGoes("new")(c)
			c.write(".git/new", "")
		}, "", false, ".", nil},
		"the task removed a listed file": {"conf", func(c checkout) { remove(c, "conf/a.txt") }, "conf/a.txt",
			false, "", nil},
		"a folder of ignored files moved away and back": {"build/out.txt", func(c checkout) {
			c.rename("build", "aside")
			c.rename("aside", "build")
		}, "", true, "build/out.txt", nil},
		"an ignored file written and restored": {"build/out.txt", func(c checkout) {
			c.write("build/out.txt", "2")
			c.write("build/out.txt", "1")
		}, "", true, "build/out.txt", nil},
		"an ignored file gone, where another one came": {"build/out.txt", func(c checkout) {
			remove(c, "build/out.txt")
			c.write("build/new.txt", "")
		}, "", true, "build/out.txt", nil},
		"an ignored file gone with its folder, and the folder is back": {"build/out.txt", func(c checkout) {
			removeAll(c, "build")
			c.write("build/new.txt", "")
		}, "", true, "build/out.txt", nil},
		"the task removed an ignored file": {"build/out.txt", func(c checkout) { remove(c, "build/out.txt") },
			"build/out.txt", true, "", nil},
		"the task removed the folder of a file": {"build/out.txt", func(c checkout) { removeAll(c, "build") }, "build",
			true, "", nil},
		"an ignored file gone": {"build/out.txt", func(c checkout) { remove(c, "build/out.txt") }, "",
			true, "build/out.txt", nil},
		"an ignored file that the task wrote": {"build/out.txt", func(c checkout) { c.write("build/out.txt", "2") },
			"build/out.txt", true, "", nil},
		"another ignored file": {"build/out.txt", func(c checkout) { c.write("build/other.txt", "2") },
			"", true, "", nil},
		"a listed ignored folder, a name went": {"build", func(c checkout) { remove(c, "build/other.txt") }, "", true,
			"build", nil},
		"what an ignored folder lacks came and went": {"build/gone", comesAndGoes("build/gone"), "", true, "build/gone", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			c.write("build/out.txt", "1")
			c.write("build/other.txt", "1")
			c.write("build/old.txt", "1")
			w := c.world()
			if of.before != nil {
				of.before(c)
			}
			rec := c.opened(of.read)
			if _, err := os.Lstat(filepath.Join(c.dir, of.read)); err == nil {
				rec.Accesses[0].Seen = true
			}
			if of.wrote != "" {
				rec.Accesses = append(rec.Accesses, reads.Access{Name: filepath.Join(c.dir, of.wrote), Asked: true, Wrote: true})
			}
			run := files.RunOf(rec, c.dir, c.dir)
			run.Since, run.InPlace = began(t), !of.inView
			list, _ := w.Of(files.RunOf(c.opened(of.read), c.dir, c.dir))
			of.change(c)
			if got, isChanged := w.ChangedMeanwhile(list, run); got != of.changed || isChanged != (of.changed != "") {
				t.Errorf("got %q, %t, want %q", got, isChanged, of.changed)
			}
		})
	}
}
