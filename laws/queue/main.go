package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"text/tabwriter"
	"time"

	"github.com/app-sre/prcheck/laws/broken"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout)) }

// run prints the table of the stream, holds the law, or breaks the package. It returns 1 if the law is broken or
// something breaks unnoticed, and 3 if that could not be found out.
func run(ctx context.Context, args []string, out io.Writer) int {
	flags := flag.NewFlagSet("queue", flag.ContinueOnError)
	seeds := flags.Uint64("seeds", 30, "how many streams for each number of arrivals")
	seed := flags.Uint64("seed", 1, "of the first stream, and of the random lines")
	worlds := flags.Uint64("worlds", 0, "hold the law over so many random lines instead")
	breaks := flags.Bool("mutants", false, "break package queue as listed, and tell what nothing notices")
	from := flags.String("parameters", "", "file with other parameters of the stream")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	switch {
	case *breaks:
		return broken.Try(ctx, out, mutants, "laws/queue")
	case *worlds > 0:
		return holdAll(out, *seed, *worlds)
	}
	raw := streamJSON
	if *from != "" {
		var err error
		if raw, err = os.ReadFile(*from); err != nil {
			_, _ = fmt.Fprintln(out, err)
			return 3
		}
	}
	p, err := readParameters(raw)
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return 2
	}
	printTable(out, p, *seed, *seeds)
	return 0
}

// A way is a way of merging a stream.
type way struct {
	name  string
	merge func(s *stream) *account
}

var ways = []way{
	{"serial", func(s *stream) *account { return loops(s, false) }},
	{"labels", func(s *stream) *account { return loops(s, true) }},
	{"train", func(s *stream) *account {
		return parallel(s, s.TrainWidth, func(*request, *request) bool { return true })
	}},
	{"analyzer", func(s *stream) *account { return parallel(s, len(s.requests), s.meets) }},
	{"ours, 1 h", func(s *stream) *account { return prove(s, 60) }},
	{"ours, 48 h", func(s *stream) *account { return prove(s, 48*60) }},
}

// printTable prints how each way merges the same streams.
func printTable(out io.Writer, p parameters, first, seeds uint64) {
	tabs := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(out, "%d streams of %g h each, from seed %d; waits in minutes from approval to merge\n", seeds,
		p.Hours, first)
	_, _ = fmt.Fprintln(tabs, "arrivals/h\tway\tmerged/h\trefused\tp50\tp99\tlongest\tbroken main\tmachine min/merge\tunused\tdropped\t")
	for _, perHour := range p.Arrivals {
		for _, w := range ways {
			var a account
			for seed := range seeds {
				a.add(w.merge(newStream(p, first+seed, perHour)))
			}
			n := float64(seeds)
			_, _ = fmt.Fprintf(tabs, "%g\t%s\t%.1f\t%.1f\t%.0f\t%.0f\t%.0f\t%.2f\t%.0f\t%.0f%%\t%.0f%%\t\n", perHour, w.name,
				float64(a.inTime)/p.Hours/n, float64(a.refused)/n, a.quantile(0.5), a.quantile(0.99), a.quantile(1),
				float64(a.breaks)/n, a.machine/float64(max(a.merged, 1)), 100*a.wasted/max(a.machine, 1),
				100*a.dropped/max(a.machine, 1))
		}
	}
	_ = tabs.Flush()
}

// holdAll holds the law over random lines.
func holdAll(out io.Writer, seed, worlds uint64) int {
	start := time.Now()
	for n := range worlds {
		if err := holdOne(seed, n); err != nil {
			_, _ = fmt.Fprintf(out, "seed %d, line %d: %v\n", seed, n, err)
			return 1
		}
	}
	_, _ = fmt.Fprintf(out, "laws of queue: %d lines of seed %d hold, in %s\n", worlds, seed,
		time.Since(start).Round(time.Second))
	return 0
}

// holdOne holds the law over one line. A panic breaks it.
func holdOne(seed, n uint64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return newLine(seed, n).hold()
}
