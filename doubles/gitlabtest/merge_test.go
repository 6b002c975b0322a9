package gitlabtest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var seed = flag.Uint64("seed", 1, "of the merges of TestMergeAsGit")

// What is merged without git is what git merges.
func TestMergeAsGit(t *testing.T) {
	w := newWorld(t, nil)
	random := rand.New(rand.NewPCG(*seed, 1))
	clear := map[verdict]int{}
	for i := range 120 {
		branch, start := fmt.Sprintf("b%d", i), w.Head(DefaultBranch)
		at := 0
		edit := func(on string) {
			path := fmt.Sprintf("data/%d/%d.yml", random.IntN(2), random.IntN(3))
			text, has := w.File(on, path)
			if !has {
				for n := range 40 {
					text += fmt.Sprintf("key-%d: value\nsame: same\n", n)
				}
			}
			lines := strings.SplitAfter(text, "\n")
			if random.IntN(2) == 0 {
				at = random.IntN(len(lines))
			}
			at = min(at, len(lines)-1)
			for range 1 + random.IntN(2) { // often near the last one
				lines[at] = fmt.Sprintf("%d\n", random.IntN(1000))
				at = min(len(lines)-1, at+random.IntN(7)*random.IntN(7))
			}
			if random.IntN(12) == 0 {
				for i := range lines {
					lines[i] = "  " + strings.TrimPrefix(lines[i], "  ")
				}
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
		for _, path := range w.Changed(start, ours) {
			if got, want := w.git.lastCommit(ours, path),
				strings.TrimSpace(w.Git(t, "log", "-1", "--format=%H", "main", "--", path)); got != want {
				t.Errorf("%s changed with %s, want %s", path, got, want)
			}
		}
		got, v := w.git.mergeLines(ours, theirs)
		if v == unclear {
			continue
		}
		clear[v]++
		out, err := w.git.git("merge-tree", "--write-tree", "--no-messages", ours, theirs)
		if want := strings.TrimSpace(out); (err == nil) != (v == clean) || v == clean && got != want {
			t.Errorf("got the tree %q, git merges %s, %v\n%s\n%s", got, want, err, w.Git(t, "diff", "-U1", start, ours),
				w.Git(t, "diff", "-U1", start, theirs))
		}
		if v == clean && random.IntN(2) == 0 {
			if err := w.Merge(w.Open(t, MergeRequest{Title: branch, Source: branch, Target: DefaultBranch, By: Jane}),
				Jane); err != nil {
				t.Error(err)
			}
		}
	}
	if clear[clean] < 10 || clear[clash] < 2 {
		t.Errorf("only %v are clear without git", clear)
	}
}
