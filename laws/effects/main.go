package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout)) }

// scenes are the natives for which the law is held.
var scenes = map[string]func(context.Context, *rand.Rand) (scene, error){
	"generic": newCloud, "namespaces": newClusters,
}

// many is how many changes a scene lives for: then another one is drawn.
const many = 100

// run holds the law over random changes. It returns 1 if it is broken, and 3 if that could not be found out.
func run(ctx context.Context, args []string, out io.Writer) int {
	flags := flag.NewFlagSet("effects", flag.ContinueOnError)
	changes := flags.Int("changes", 2000, "how many changes of each native")
	seed := flags.Uint64("seed", 1, "for the random changes")
	only := flags.String("native", "", "the native that is held (default all)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	for _, name := range slices.Sorted(maps.Keys(scenes)) {
		if *only != "" && *only != name {
			continue
		}
		start := time.Now()
		var n count
		var s scene
		var r *rand.Rand
		for n.changes < *changes {
			at := n.changes
			if at%many == 0 {
				r = rand.New(rand.NewPCG(*seed, uint64(at))) //nolint:gosec // a law needs no secret numbers
				var err error
				if s, err = scenes[name](ctx, r); err != nil {
					_, _ = fmt.Fprintf(out, "%s: %v\n", name, err)
					return 3
				}
			}
			if err := hold(ctx, s, r, &n); err != nil {
				_, _ = fmt.Fprintf(out, "%s: seed %d, change %d: %v\n", name, *seed, at, err)
				return 1
			}
		}
		_, _ = fmt.Fprintf(out, "law of effects: %d changes of %s of seed %d hold, with %d effects; %d say nothing, %d are "+
			"refused; in %s\n", n.changes, name, *seed, n.effects, n.quiet, n.refused, time.Since(start).Round(time.Second))
	}
	return 0
}
