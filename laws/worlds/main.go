//go:build unix

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Options say what is checked.
type options struct {
	pairs, from, workers  int
	seed                  uint64
	runner, planner, keep string
	places                []place
	mutants, noShrink     bool
	upsets                bool
	mutant                string
	shown                 int // how many violations are made small and printed
}

// errViolated is the result when the law does not hold.
var errViolated = errors.New("the law does not hold")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program
	syscall.Umask(0o022)         // as git and prcheck have it
	var o options
	var where string
	flag.IntVar(&o.pairs, "pairs", 200, "how many pairs are checked")
	flag.IntVar(&o.from, "from", 0, "number of the first pair, to repeat one")
	flag.Uint64Var(&o.seed, "seed", 1, "another seed draws other pairs")
	flag.StringVar(&o.runner, "runner", "bin/runner", "the program runner")
	flag.StringVar(&o.planner, "planner", "bin/planner", "the program planner")
	flag.StringVar(&where, "place", "both", "local, job or both")
	flag.StringVar(&o.keep, "keep", "", "folder for the smallest pairs that break the law")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "how many pairs are checked at once")
	flag.IntVar(&o.shown, "shown", 3, "how many violations are made small and printed")
	flag.BoolVar(&o.noShrink, "no-shrink", false, "print violations as they were found")
	flag.BoolVar(&o.mutants, "mutants", false, "build broken engines and let the law catch them")
	flag.StringVar(&o.mutant, "mutant", "", "only the broken engines whose names have this text")
	flag.BoolVar(&o.upsets, "upsets", false,
		"disturb the first check of each pair: edits and kills while it runs, and damage")
	flag.Parse()
	places, ok := map[string][]place{"local": {local}, "job": {job}, "both": {local, job}}[where]
	if !ok || flag.NArg() > 0 {
		_, _ = fmt.Fprintln(os.Stderr, "worlds: --place is local, job or both, and there are no arguments")
		os.Exit(2) //nolint:gocritic // nothing runs yet
	}
	o.places = places
	if err := start(ctx, os.Stdout, o); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "worlds: %v\n", err)
		if errors.Is(err, errViolated) {
			os.Exit(1)
		}
		os.Exit(3)
	}
}

// start makes the folder for repositories and checks the pairs, or the mutants.
func start(ctx context.Context, out io.Writer, o options) error {
	temp, err := tempFolder()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	t, err := newTools(ctx, o.runner, o.planner, temp)
	if err != nil {
		return err
	}
	l := law{t, temp}
	if o.mutants {
		return l.catch(ctx, out, o, mutants)
	}
	began := time.Now()
	s, unjudged := l.all(ctx, o, nil) // what was counted is told all the same
	for _, found := range s.broken[:min(o.shown, len(s.broken))] {
		if err := l.show(ctx, out, o, found); err != nil {
			return err
		}
	}
	s.write(out, o, commitOf(ctx), time.Since(began))
	switch {
	case s.wrongSkips+s.falseGreens > 0:
		return errViolated
	case unjudged != nil:
		return unjudged
	case ctx.Err() != nil:
		return fmt.Errorf("stopped after %d of %d pairs and places: %w", s.pairs, o.pairs*len(o.places), ctx.Err())
	}
	return nil
}

// commitOf returns the commit of the checkout that the law was started in, "" if there is none.
func commitOf(ctx context.Context) string {
	out, err := command(context.WithoutCancel(ctx), ".", os.Environ(), "git", "describe", "--always", "--dirty",
		"--exclude=*")
	if err != nil {
		return ""
	}
	return out
}

// tempFolder makes a folder in memory, if the system has one.
func tempFolder() (string, error) {
	if dir, err := os.MkdirTemp("/dev/shm", "worlds-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "worlds-")
}

// A sum is what the checks of many pairs found.
type sum struct {
	counts
	broken    []broken
	unchecked map[string]int // by what prcheck said
	whys      map[string]int // why programs ran needlessly
	failures  []error        // pairs that could not be checked by the law itself
}

// A broken pair is one that breaks the law in a place.
type broken struct {
	pair  pair
	place place
	first violation
}

// all checks the pairs with several workers. It ends early when stop says so, or when the context
// ends: the pairs that are being checked then count.
func (l law) all(ctx context.Context, o options, stop func(pair, finding) bool) (sum, error) {
	checking := context.WithoutCancel(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := sum{unchecked: map[string]int{}, whys: map[string]int{}}
	var mu sync.Mutex
	var group sync.WaitGroup
	next, check := make(chan int), l.check
	if o.upsets {
		check = l.disturb
	}
	for range max(1, o.workers) {
		group.Go(func() {
			for i := range next {
				p := draw(o.seed, i)
				for _, in := range o.places {
					f, err := check(checking, p, in)
					mu.Lock()
					s.take(p, in, f, err)
					if err == nil && stop != nil && stop(p, f) {
						cancel()
					}
					mu.Unlock()
				}
			}
		})
	}
	for i := range o.pairs {
		select {
		case next <- o.from + i:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	if n := len(s.failures); stop == nil && n > 0 {
		return s, fmt.Errorf("%d pairs could not be checked, the first: %w", n, s.failures[0])
	}
	return s, nil
}

// take adds what the check of a pair found.
func (s *sum) take(p pair, in place, f finding, err error) {
	if err != nil {
		s.failures = append(s.failures, fmt.Errorf("pair %d, %s: %w", p.Index, in, err))
		return
	}
	s.add(f.counts)
	for _, line := range f.unchecked {
		s.unchecked[line]++
	}
	for _, why := range f.whys {
		s.whys[why]++
	}
	if len(f.violations) > 0 {
		s.broken = append(s.broken, broken{p, in, f.violations[0]})
	}
}
