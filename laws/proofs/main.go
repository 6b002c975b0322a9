package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout)) }

// run holds the law over random scenes. It returns 1 if one breaks it, and 3 if that could not be found out.
func run(ctx context.Context, args []string, out io.Writer) int {
	flags := flag.NewFlagSet("proofs", flag.ContinueOnError)
	scenes := flags.Uint64("scenes", 500, "how many scenes")
	seed := flags.Uint64("seed", 1, "for the random scenes")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	var t tally
	for n := range *scenes {
		if err := holdOne(ctx, *seed, n, &t); err != nil {
			_, _ = fmt.Fprintf(out, "seed %d, scene %d: %v\n", *seed, n, err)
			return 1
		}
	}
	_, _ = fmt.Fprintf(out, "proofs: %d scenes of seed %d: %d conflicts, %d with nothing left, %d proven; %d tasks held, none "+
		"wrong, %d ran, of which %d see the same\n", t.scenes, *seed, t.conflicts, t.empty, t.proven, t.held, t.ran, t.needless)
	return 0
}

// holdOne holds the law in one scene.
func holdOne(ctx context.Context, seed, n uint64, t *tally) error {
	dir, err := os.MkdirTemp("", "proofs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := newScene(ctx, dir, rand.New(rand.NewPCG(seed, n))) //nolint:gosec // random scenes
	if err != nil {
		return err
	}
	if err := s.hold(ctx, t); err != nil {
		return fmt.Errorf("%w\n%q", err, s.names)
	}
	return nil
}
