package world

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var costFiles = flag.Int("cost-files", 0, "number of files of the repository for which TestCost measures what "+
	"worlds cost")

// TestCost measures the CPU of this process and of all that it starts, in seconds, and beside it the ratio to git
// checkout-index in the same run. It prints a table; nothing is held.
func TestCost(t *testing.T) {
	if *costFiles == 0 {
		t.Skip("-cost-files says no number")
	}
	r := largeRepository(t, *costFiles)
	k := keeper(t)
	base := r.git("rev-parse", "HEAD~1")
	unit := measure(t, 3, func(i int) {
		dir := t.TempDir()
		env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
		r.gitWith(env, "read-tree", "HEAD")
		r.gitWith(env, "checkout-index", "-a", "-f", "--prefix="+filepath.Join(dir, "f")+"/")
	})
	row := func(name string, seconds time.Duration) {
		fmt.Printf("%-40s %7.3f s  %5.2f\n", name, seconds.Seconds(), seconds.Seconds()/unit.Seconds())
	}
	row("git checkout-index", unit)
	row("git status", measure(t, 3, func(int) { r.git("status", "--short") }))
	row("OfCommit", measure(t, 5, func(int) { r.commitTree("HEAD") }))
	row("OfWorkTree, clean", measure(t, 5, func(int) { r.workTree(WorkTreeOptions{}) }))
	tree, near := r.commitTree("HEAD"), r.commitTree(base)
	row("Keep, first", measure(t, 3, func(i int) { keep(t, Keeper{Dir: fmt.Sprint(k.Dir, i)}, tree) }))
	row("Keep, by difference", measure(t, 3, func(i int) { keep(t, Keeper{Dir: fmt.Sprint(k.Dir, i)}, near) }))
	k.Dir += "0"
	row("Keep, kept with the check", measure(t, 5, func(int) { must(t, keep(t, k, tree).Close()) }))
	kept := keep(t, k, tree)
	kinds := []ViewKind{Links, Copies}
	if kept.canOverlay() {
		kinds = append(kinds, Overlay)
	}
	for _, kind := range kinds {
		view := func(int) {
			v, err := kept.View(t.Context(), ViewOptions{Kind: kind})
			must(t, err)
			must(t, v.Close())
		}
		view(0) // prepares the git folder
		row("View and Close, "+kind.String(), measure(t, 3, view))
	}
}

// measure returns the median of the CPU that a function takes.
func measure(t *testing.T, times int, what func(i int)) time.Duration {
	t.Helper()
	var all []time.Duration
	for i := range times {
		runtime.GC()
		before := cpu()
		what(i)
		all = append(all, cpu()-before)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// cpu returns the CPU that this process and those that it started have taken.
func cpu() time.Duration {
	total := time.Duration(0)
	for _, who := range []int{0, -1} { // RUSAGE_SELF and RUSAGE_CHILDREN
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u)
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}

// largeRepository makes a repository with two commits that differ in a few files.
func largeRepository(t *testing.T, files int) repository {
	t.Helper()
	r := newRepository(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		var text strings.Builder
		for j := range 5 + rnd.IntN(80) {
			fmt.Fprintf(&text, "field%d: %f\n", j, rnd.Float64())
		}
		r.write(fmt.Sprintf("data/%02d/dir%04d/file%06d.yml", i%37, i/37%max(files/370, 1), i), text.String())
	}
	r.commit()
	for i := range 10 {
		r.write(fmt.Sprintf("data/%02d/new%d.yml", i, i), "new")
	}
	r.commit()
	_ = exec.Command("git", "-C", r.dir, "repack", "-adq").Run()
	must(t, os.Chtimes(filepath.Join(r.dir, ".git", "index"), time.Now().Add(time.Second), time.Now().Add(time.Second)))
	return r
}
