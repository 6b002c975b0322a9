package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/state/files"
	"github.com/app-sre/prcheck/world"
)

// A folder that others may write to is evidence only if the task found exactly the names of its side.
func TestListedBesideOthers(t *testing.T) {
	none := func(checkout) {}
	laid := func(name string) func(checkout) { return func(c checkout) { c.write(name, "x") } }
	for name, of := range map[string]struct {
		folder   string
		names    string // that the task found; "?" if nobody looked
		before   func(checkout)
		during   func(checkout)
		wrote    string // by the task; with a mark if it was there when the task first used it
		unsteady bool
		inView   bool
		isKnown  bool
	}{
		"those of the side":             {"conf", "a.txt b.txt", none, none, "", false, false, true},
		"nobody looked":                 {"conf", "?", none, none, "", false, false, false},
		"nobody had to look":            {"conf", "?", none, none, "", false, true, true},
		"other ones later":              {"conf", "a.txt b.txt", none, none, "", true, false, false},
		"one that was laid there":       {"conf", "a.txt b.txt x", laid("conf/x"), none, "", false, false, false},
		"one that was laid and written": {"conf", "a.txt b.txt x", laid("conf/x"), none, "conf/x!", false, false, false},
		"one that came":                 {"conf", "a.txt b.txt", none, laid("conf/x"), "", false, false, false},
		"one of the task":               {"conf", "a.txt b.txt", none, laid("conf/x"), "conf/x", false, false, true},
		"one is missing":                {"conf", "a.txt", none, none, "", false, false, false},
		"one that came and was written": {"conf", "a.txt b.txt", none, laid("conf/x"), "conf/x!", false, false, false},
		"an empty folder": {"conf", "a.txt b.txt empty", func(c checkout) {
			if err := os.Mkdir(filepath.Join(c.dir, "conf/empty"), 0o700); err != nil {
				c.Fatal(err)
			}
		}, none, "", false, false, false},
		"compiled modules": {"conf", "__pycache__ a.txt b.txt", laid("conf/__pycache__/a.pyc"), none, "", false, false, true},
		"git, and an ignored folder": {".", ".git .gitignore README build conf lib run tool.py", none, none, "", false,
			false, true},
		"logs of prcheck": {".", ".git .gitignore README build conf lib logs run tool.py", laid("logs/own.log"), none, "",
			false, false, true},
		"a folder with another file beside logs": {".", ".git .gitignore README build conf lib logs run tool.py", func(c checkout) {
			laid("logs/own.log")(c)
			laid("logs/more")(c)
		}, none, "", false, false, false},
		"ignored":                    {"build", "out.txt", none, none, "", false, true, true},
		"ignored, nobody looked":     {"build", "?", none, none, "", false, true, false},
		"ignored, one came":          {"build", "out.txt", none, laid("build/x"), "", false, true, false},
		"ignored, one of the task":   {"build", "out.txt", none, laid("build/x"), "build/x", false, true, true},
		"ignored, another one later": {"build", "out.txt", none, none, "", true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			c.write("build/out.txt", "1")
			w := c.world()
			w.IsOwn = func(name string) bool { return strings.HasSuffix(name, ".log") }
			of.before(c)
			a := reads.Access{Name: filepath.Join(c.dir, of.folder), Opened: true, Seen: true, Unsteady: of.unsteady}
			if of.names != "?" {
				a.Names = strings.Fields(of.names)
			}
			rec := reads.Record{Accesses: []reads.Access{a}}
			if of.wrote != "" {
				wrote, seen := strings.CutSuffix(of.wrote, "!")
				rec.Accesses = append(rec.Accesses, reads.Access{Name: filepath.Join(c.dir, wrote), Wrote: true,
					Seen: seen, MadeFirst: true})
			}
			run := files.RunOf(rec, c.dir, c.dir)
			run.Since, run.InPlace = began(t), !of.inView
			of.during(c)
			list, partial := w.Of(run)
			if len(list) != 1 || partial != "" || !list[0].Lists || (list[0].Found != "?") != of.isKnown {
				t.Errorf("got %v, %q", list, partial)
			}
		})
	}
}

// Of an ignored file that the task changed the content counts that it had before.
func TestWrittenIgnoredFiles(t *testing.T) {
	c := newCheckout(t)
	c.write("build/out.txt", "1")
	w := c.world()
	list, _ := w.Of(files.RunOf(c.opened("build/out.txt"), c.dir, c.dir))
	known := list[0].Found
	c.write("build/out.txt", "2")
	digest := known[strings.LastIndexByte(known, ' ')+1:]
	for want, a := range map[string]reads.Access{
		known:     {Seen: true, Before: &reads.Content{SHA256: digest}},
		"?":       {Seen: true},
		"missing": {},
	} {
		a.Name, a.Opened, a.Wrote = filepath.Join(c.dir, "build/out.txt"), true, true
		list, partial := w.Of(files.RunOf(reads.Record{Accesses: []reads.Access{a}}, "/view", c.dir))
		if len(list) != 1 || partial != "" || list[0].Found != want {
			t.Errorf("got %v, %q, want %q", list, partial, want)
		}
	}
}

// A file counts as another one if the task found nothing, or a file with another number, where one is now.
func TestAnotherFileMeanwhile(t *testing.T) {
	c := newCheckout(t)
	w, since := c.world(), began(t)
	info, err := os.Lstat(filepath.Join(c.dir, "conf/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if world.Inode(info) == 0 {
		t.Skip("files have no numbers here")
	}
	for inode, want := range map[uint64]bool{world.Inode(info): false, world.Inode(info) + 1: true, 0: true} {
		rec := c.opened("conf/a.txt")
		rec.Accesses[0].Seen, rec.Accesses[0].Inode = inode != 0, inode
		run := files.RunOf(rec, c.dir, c.dir)
		run.Since, run.InPlace = since, true
		list, _ := w.Of(run)
		if _, isChanged := w.ChangedMeanwhile(list, run); isChanged != want {
			t.Errorf("%d: got %t, want %t", inode, isChanged, want)
		}
	}
}
