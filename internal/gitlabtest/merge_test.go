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
	for i := range 100 {
		branch, start := fmt.Sprintf("b%d", i), w.Head(DefaultBranch)
		edit := func(on string) {
			path := fmt.Sprintf("data/%d/%d.yml", random.IntN(2), random.IntN(3))
			text, has := w.File(on, path)
			if !has {
				for n := range 40 {
					text += fmt.Sprintf("key-%d: value\nsame: same\n", n)
				}
			}
			lines := strings.SplitAfter(text, "\n")
			for range 1 + random.IntN(2) {
				lines[random.IntN(len(lines))] = fmt.Sprintf("%d\n", random.IntN(1000))
			}
			if random.IntN(9) == 0 {
				lines = lines[1:]
			}
			c := Change{By: Jane, Branch: on, Message: "m", Files: map[string]string{path: strings.Join(lines, "")}}
			if has && random.IntN(12) == 0 {
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
