package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/state/files"
)

// What changed while a task ran is found, also if it is as before afterwards.
func TestChangedMeanwhile(t *testing.T) {
	remove := func(c checkout, name string) {
		if err := os.Remove(filepath.Join(c.dir, name)); err != nil {
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
	}{
		"nothing":                                    {"tool.py", none, "", false, ""},
		"another file":                               {"tool.py", func(c checkout) { c.write("README", "x") }, "", false, ""},
		"written and restored":                       {"tool.py", func(c checkout) { c.write("tool.py", "2"); c.write("tool.py", "1") }, "", false, "tool.py"},
		"removed":                                    {"tool.py", func(c checkout) { remove(c, "tool.py") }, "", false, "tool.py"},
		"written by the task":                        {"tool.py", func(c checkout) { c.write("tool.py", "2") }, "tool.py", false, ""},
		"in a view":                                  {"tool.py", func(c checkout) { c.write("tool.py", "2") }, "", true, ""},
		"a listed file removed and made again":       {"conf", func(c checkout) { remove(c, "conf/a.txt"); c.write("conf/a.txt", "a") }, "", false, "conf"},
		"the same, and another name":                 {"conf", func(c checkout) { remove(c, "conf/a.txt"); c.write("conf/a.txt", "a"); c.write("conf/c.tmp", "") }, "", false, "conf"},
		"a listed file gone, and another name":       {"conf", func(c checkout) { remove(c, "conf/a.txt"); c.write("conf/c.tmp", "") }, "", false, "conf"},
		"a name in a listed folder came and went":    {"conf", comesAndGoes("conf/c.txt"), "", false, "conf"},
		"a name in a listed folder came":             {"conf", func(c checkout) { c.write("conf/c.tmp", "x") }, "", false, ""},
		"the task itself made and removed it":        {"conf", comesAndGoes("conf/c.txt"), "conf/c.txt", false, ""},
		"a file of a listed folder changed":          {"conf", func(c checkout) { c.write("conf/a.txt", "2") }, "", false, ""},
		"a name that was looked for came and went":   {"gone", comesAndGoes("gone"), "", false, "gone"},
		"a name in a missing folder came and went":   {"none/gone", func(c checkout) { c.write("none/gone", ""); remove(c, "none/gone"); remove(c, "none") }, "", false, "none/gone"},
		"a name that was looked for came":            {"gone", func(c checkout) { c.write("gone", "x") }, "", false, "gone"},
		"an ignored file written and restored":       {"build/out.txt", func(c checkout) { c.write("build/out.txt", "2"); c.write("build/out.txt", "1") }, "", true, "build/out.txt"},
		"an ignored file gone":                       {"build/out.txt", func(c checkout) { remove(c, "build/out.txt") }, "", true, "build/out.txt"},
		"an ignored file that the task wrote":        {"build/out.txt", func(c checkout) { c.write("build/out.txt", "2") }, "build/out.txt", true, ""},
		"another ignored file":                       {"build/out.txt", func(c checkout) { c.write("build/other.txt", "2") }, "", true, ""},
		"a listed ignored folder, a name went":       {"build", func(c checkout) { remove(c, "build/other.txt") }, "", true, "build"},
		"what an ignored folder lacks came and went": {"build/gone", comesAndGoes("build/gone"), "", true, "build/gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			c.write("build/out.txt", "1")
			c.write("build/other.txt", "1")
			w := c.world()
			run := files.Run{Since: began(t), InPlace: !of.inView, Wrote: map[string]bool{}}
			if of.wrote != "" {
				run.Wrote[of.wrote] = true
			}
			list, _ := w.Of(c.opened(of.read), c.dir, c.dir)
			of.change(c)
			if got, isChanged := w.ChangedMeanwhile(list, run); got != of.changed || isChanged != (of.changed != "") {
				t.Errorf("got %q, %t, want %q", got, isChanged, of.changed)
			}
		})
	}
}
