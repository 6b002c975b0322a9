package files_test

import (
	"path/filepath"
	"testing"

	"github.com/app-sre/prcheck/internal/reads"
	"github.com/app-sre/prcheck/state/files"
)

// Where others may write, a file that the task read and then changed is no evidence, unless it is known what it found.
func TestChangedWhereOthersWrite(t *testing.T) {
	access := func(c checkout, name string) reads.Access {
		return reads.Access{Name: filepath.Join(c.dir, name), Asked: true, Opened: true, Wrote: true, Seen: true, Inode: 1,
			Before: &reads.Content{SHA256: "of somebody else"}}
	}
	for name, path := range map[string]string{"a file of the side": "conf/a.txt", "a file of nobody": "conf/new.json"} {
		for _, isInPlace := range []bool{true, false} {
			c := newCheckout(t)
			w := c.world()
			run := files.RunOf(reads.Record{Accesses: []reads.Access{access(c, path)}}, c.dir, c.dir)
			run.Since, run.InPlace = began(t), isInPlace
			c.write(path, "theirs mine")
			l, partial := w.Of(run)
			_, isChanged := w.Changed(l)
			if isDoubt := partial != "" || isChanged; isDoubt != isInPlace {
				t.Errorf("%s, in place %t: %v, %q", name, isInPlace, l, partial)
			}
		}
	}
}
