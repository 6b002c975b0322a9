package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/app-sre/prcheck/laws/broken"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout)) }

// run holds the laws over random worlds. It returns 1 if one is broken, and 3 if that could not be found out.
func run(ctx context.Context, args []string, out io.Writer) int {
	flags := flag.NewFlagSet("owners", flag.ContinueOnError)
	worlds := flags.Uint64("worlds", 100_000, "how many worlds")
	seed := flags.Uint64("seed", 1, "for the random worlds")
	breaks := flags.Bool("mutants", false, "break the packages as listed, and tell what nothing notices")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *breaks {
		return broken.Try(ctx, out, mutants, "laws/owners")
	}
	start := time.Now()
	for n := range *worlds {
		if err := holdOne(*seed, n); err != nil {
			w := newWorld(*seed, n)
			_, _ = fmt.Fprintf(out, "seed %d, world %d: %v\nbase %v\nhead %v\n", *seed, n, err, w.base, w.head)
			return 1
		}
	}
	_, _ = fmt.Fprintf(out, "laws of owners: %d worlds of seed %d hold, in %s\n", *worlds, *seed,
		time.Since(start).Round(time.Second))
	return 0
}

// holdOne holds the laws in one world. A panic breaks them.
func holdOne(seed, n uint64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	w := newWorld(seed, n)
	if err := w.hold(); err != nil {
		return err
	}
	if n%20 == 0 {
		return w.holdHead()
	}
	return nil
}
