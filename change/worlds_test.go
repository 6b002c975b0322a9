package change

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/world"
)

// Head's files are those that a plan was made from: new files do not count, and an edit is an error.
// Of a plan that had too many edits to name them, a new file is an edit.
func TestOfPlan(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, tt := range []struct {
		name   string
		edited int
		later  string // a file that is written after the plan
		want   string // in the error; "" for none
	}{
		{"nothing edited", 0, "", ""},
		{"nothing edited, and a new file later", 0, "later", ""},
		{"nothing edited, and an edit later", 0, "tracked", `"tracked" changed since`},
		{"one file, and a new file later", 1, "later", ""},
		{"one file, edited again", 1, "new/0", `"new/0" changed since`},
		{"too many files to name", plan.MaxEdited + 1, "", ""},
		{"too many files to name, and one edited again", plan.MaxEdited + 1, "new/0", "a file changed since"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			write := func(name, text string) {
				t.Helper()
				at := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("tracked", "1")
			for _, args := range []string{"init -q", "add .", "-c user.name=a -c user.email=a@b commit -q -m a"} {
				if raw, err := exec.CommandContext(t.Context(), "git",
					append([]string{"-C", root}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
					t.Fatalf("git %s: %v: %s", args, err, raw)
				}
			}
			for i := range tt.edited {
				write("new/"+strconv.Itoa(i), "1")
			}
			open := func() Worlds {
				return OpenWorlds(context.Background(), source.Opener{}, source.Own{}, world.Keeper{}, "", "dir:"+root)
			}
			of, err := sideFiles(t.Context(), "dir:"+root, open().Head)
			if err != nil {
				t.Fatal(err)
			}
			if tt.later != "" {
				write(tt.later, "22")
			}
			side := plan.Side{Tree: of.Tree, Edited: of.Edited}
			w := open().OfPlan(t.Context(), source.Opener{}, source.Own{}, world.Keeper{}, "dir:"+root, side)
			tree, err := w.Head()
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got the error %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil || tree.ID() != of.Tree {
				t.Fatalf("got %v, %v, want the tree %s", tree, err, of.Tree)
			}
			if others, err := w.Others(); err != nil || len(others) > 0 {
				t.Errorf("got %q, %v beside it", others, err)
			}
		})
	}
}
