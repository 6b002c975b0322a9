package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// options are those of the command.
type options struct {
	pairs  int
	seed   uint64
	runner string
	place  string
	keep   string
	jobs   int
	// mutants asks for the mutants in place of the pairs.
	mutants bool
}

func main() {
	var o options
	flag.IntVar(&o.pairs, "pairs", 100, "how many pairs of sides are made")
	flag.Uint64Var(&o.seed, "seed", 1, "the first seed; each pair has the next one")
	flag.StringVar(&o.runner, "runner", "bin/runner", "the program that is held against the truth")
	flag.StringVar(&o.place, "place", "both", "local, job or both")
	flag.StringVar(&o.keep, "keep", "", "folder that keeps the checkouts of violations")
	flag.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "how many pairs at once")
	flag.BoolVar(&o.mutants, "mutants", false, "break rules of prcheck by hand, and look whether the law finds each of them")
	flag.Parse()
	do := run
	if o.mutants {
		do = runMutants
	}
	if err := do(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "worlds:", err)
		os.Exit(1)
	}
}

// run makes pairs and prints a table of what was found.
func run(o options, out *os.File) error {
	runner, err := filepath.Abs(o.runner)
	if err != nil {
		return err
	}
	o.runner = runner
	began := time.Now()
	total := &counts{out: out}
	seeds := make(chan uint64)
	var workers sync.WaitGroup
	for range o.jobs {
		workers.Go(func() {
			for seed := range seeds {
				total.add(seed, o.onePair(seed))
			}
		})
	}
	for i := range o.pairs {
		seeds <- o.seed + uint64(i)
	}
	close(seeds)
	workers.Wait()
	fmt.Fprintf(out, "pairs %d, checks %d, programs run %d, skipped %d, reused %d\n", o.pairs, total.checks, total.runs, total.skips, total.reused)
	fmt.Fprintf(out, "wrong skips %d, false greens %d, over-strict %d, not checked %d, invalid %d, broken pairs %d\n",
		total.wrongSkips, total.falseGreens, total.overStrict, total.notChecked, total.invalid, total.trouble)
	fmt.Fprintf(out, "needless runs %d of %d programs that read nothing that changed\n", total.needless, total.unconcerned)
	fmt.Fprintf(out, "seed %d, %s\n", o.seed, time.Since(began).Round(time.Second))
	if total.wrongSkips+total.falseGreens+total.trouble > 0 {
		return errors.New("the law does not hold")
	}
	return nil
}

// onePair makes a repository and a change of it, and checks what prcheck says of it; then another
// change, with a state that remembers the first.
func (o options) onePair(seed uint64) (f findings) {
	r := rand.New(rand.NewPCG(seed, 30))
	home, err := os.MkdirTemp("", "worlds-")
	if err != nil {
		return f.failed(err)
	}
	defer func() {
		if o.keep != "" && (len(f.violations) > 0 || o.pairs == 1) {
			_ = os.Rename(home, filepath.Join(o.keep, fmt.Sprint("seed-", seed)))
		}
		_ = os.RemoveAll(home)
	}()
	repo, err := newRepository(r, filepath.Join(home, "checkout"))
	if err != nil {
		return f.failed(err)
	}
	if r.IntN(3) == 0 { // base is broken already, perhaps
		if _, err = repo.edit(r); err == nil {
			err = errors.Join(repo.git("switch", "-q", "main"), repo.git("add", "-A"), repo.git("commit", "-q", "--allow-empty", "-m", "broken"), repo.git("switch", "-q", "change"), repo.git("merge", "-q", "--ff-only", "main"))
		}
		if err != nil {
			return f.failed(err)
		}
	}
	inJob := o.place == "job" || o.place == "both" && r.IntN(2) == 0
	isCommitted := inJob || r.IntN(2) == 0
	base, err := repo.layBase(home)
	if err != nil {
		return f.failed(err)
	}
	onBase, err := base.run(repo.programs)
	if err != nil {
		return f.failed(err)
	}
	state, before := "", truth{}
	if r.IntN(2) == 0 && !inJob { // in a job only a signed state counts
		state = filepath.Join(home, "state")
	}
	var edits []edit
	for round := range 2 {
		if edits, err = repo.edit(r); err == nil && isCommitted {
			err = errors.Join(repo.git("add", "-A"), repo.git("commit", "-q", "--allow-empty", "-m", "change"))
		}
		if err != nil {
			return f.failed(err)
		}
		onHead, err := o.check(&f, repo, home, inJob, state, onBase, round)
		if err != nil {
			return f.failed(err)
		}
		if round == 1 && state != "" {
			f.countNeedless(repo, edits, before, onHead, isCommitted)
		}
		before, f.ranBefore = onHead, f.lastRan
	}
	return f
}

// check asks prcheck about the change as it is now, and holds the answer against the truth.
func (o options) check(f *findings, repo *repository, home string, inJob bool, state string, onBase truth, round int) (truth, error) {
	head, err := repo.layHead(home, fmt.Sprint("truth-head-", round))
	if err != nil {
		return nil, err
	}
	onHead, err := head.run(repo.programs)
	if err != nil {
		return nil, err
	}
	v, err := repo.ask(o.runner, home, inJob, state)
	if err != nil {
		return nil, err
	}
	f.lastRan = v.ran
	clean := onHead
	if v.code == 0 && len(broken(onBase, onHead)) > 0 {
		if clean, err = head.runClean(repo.programs); err != nil {
			return nil, err
		}
	}
	f.judge(v, onBase, onHead, clean, fmt.Sprintf("round %d, job %v", round+1, inJob))
	return onHead, nil
}

// judge counts what is wrong with a verdict. Clean is head without the files that git ignores:
// these are no part of a change, so a program that they alone break need not be started.
func (f *findings) judge(v verdict, base, head, clean truth, where string) {
	f.checks++
	for name := range head {
		if v.ran[name] {
			f.runs++
		} else {
			f.skips++
		}
	}
	wrong := broken(base, head)
	slices.Sort(wrong)
	byChange := broken(base, clean)
	wrong = slices.DeleteFunc(wrong, func(name string) bool { return !v.ran[name] && !slices.Contains(byChange, name) })
	switch {
	case v.code == 0 && len(wrong) > 0:
		for _, name := range wrong {
			kind := "FALSE GREEN"
			if f.falseGreens++; !v.ran[name] {
				kind = "WRONG SKIP"
				f.falseGreens--
				f.wrongSkips++
			}
			f.violations = append(f.violations, fmt.Sprintf("%s of %s (%s): base %q, head %q\n%s", kind, name, where, base[name], head[name], v.said))
		}
	case v.code == 1 && len(broken(base, head)) == 0:
		f.overStrict++
		f.remarks = append(f.remarks, fmt.Sprintf("over-strict (%s): base %v, head %v\n%s", where, base, head, v.said))
	case v.code == 2:
		f.invalid++
		f.remarks = append(f.remarks, "exit 2: "+v.argued)
	case v.code > 2:
		f.notChecked++
		f.remarks = append(f.remarks, "exit "+fmt.Sprint(v.code)+": "+v.argued)
	}
}

// countNeedless counts the programs that ran although they ran and passed before, and read nothing
// that changed since.
func (f *findings) countNeedless(repo *repository, edits []edit, before, now truth, isCommitted bool) {
	for _, p := range repo.programs {
		concerned := before[p.name] != "" || now[p.name] != "" || isCommitted && p.needsCommit()
		for _, e := range edits {
			concerned = concerned || p.reads(e.path, e.isNew)
		}
		if !concerned && f.ranBefore[p.name] {
			f.unconcerned++
			if f.lastRan[p.name] {
				f.needless++
				f.remarks = append(f.remarks, fmt.Sprintf("needless run of %s after %v", p.name, edits))
			}
		}
	}
}
