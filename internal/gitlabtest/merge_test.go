package gitlabtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What is merged without git is what git merges.
func TestMergeAsGit(t *testing.T) {
	w := newWorld(t, nil)
	random := rand.New(rand.NewPCG(1, 1))
	apart := 0
	for i := range 60 {
		branch, start := fmt.Sprintf("b%d", i), w.Head(DefaultBranch)
		edit := func(on string) {
			path := fmt.Sprintf("data/%d/%d.yml", random.IntN(2), random.IntN(3))
			c := Change{By: Jane, Branch: on, Message: "m", Files: map[string]string{path: strings.Repeat("x\n", random.IntN(4)) + fmt.Sprint(i) + strings.Repeat("\ny", random.IntN(4))}}
			if _, has := w.File(on, path); has && random.IntN(8) == 0 {
				c.Files, c.Remove = nil, []string{path}
			}
			if _, err := w.Commit(c); err != nil {
				t.Fatal(err)
			}
		}
		edit(branch)
		edit(branch)
		edit(DefaultBranch)
		ours, theirs := w.Head(DefaultBranch), w.Head(branch)
		if base := w.git.mergeBase(ours, theirs); base != start {
			t.Errorf("the base is %s, want %s", base, start)
		}
		got, ok := w.git.mergeApart(ours, theirs)
		if !ok {
			continue
		}
		apart++
		out, err := w.git.git("merge-tree", "--write-tree", "--no-messages", ours, theirs)
		if want := strings.TrimSpace(out); err != nil || got != want {
			t.Errorf("got the tree %s, git merges %s, %v", got, want, err)
		}
	}
	if apart < 10 {
		t.Errorf("only %d merges without git", apart)
	}
}
