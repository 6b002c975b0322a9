package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// judged are the packages whose tests must notice nine of ten changes.
var judged = []string{
	"planner", "affected", "schemafilter", "trace", "qontract/gql", "natives/reconcile", "natives/native", "state",
	"runner/baseline", "runner/effects", "integration/sharding",
}

// least is the share of the changes that tests must notice, in percent.
const least = 90

// Options say what is changed.
type options struct {
	packages []string
	changes  int
	seed     uint64
	own      bool // ask only the tests of the package itself
	engines  bool // ask the judges of engines instead
	draw     bool // draw the list of broken engines
}

// errWeak is the result when tests notice too little.
var errWeak = fmt.Errorf("the tests notice fewer than %d %% of the changes", least)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.IntVar(&o.changes, "changes", 150, "how many changes are tried for each package")
	flag.Uint64Var(&o.seed, "seed", 1, "another seed draws other changes")
	flag.BoolVar(&o.own, "own", false,
		"ask only the tests of the package itself: quicker, and counts at most as many as noticed")
	flag.BoolVar(&o.engines, "engines", false,
		"break the engines as listed, and ask the judges that hold them to other programs")
	flag.BoolVar(&o.draw, "draw", false, "print a new list of broken engines, with so many changes for each judge")
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(),
			"usage: go run ./laws/mutants [flags] [PACKAGE...]\n\nA package is a folder of the module, such as planner.\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if o.packages = flag.Args(); len(o.packages) == 0 {
		o.packages = judged
	}
	if err := start(ctx, os.Stdout, o); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "mutants: %v\n", err)
		if errors.Is(err, errWeak) || errors.Is(err, errUnnoticed) {
			os.Exit(1) //nolint:gocritic // nothing runs any more
		}
		os.Exit(3)
	}
}

func start(ctx context.Context, out io.Writer, o options) error {
	switch {
	case o.draw:
		return drawEngines(ctx, out, o)
	case o.engines:
		return holdEngines(ctx, out)
	}
	return run(ctx, out, o)
}

// run tries the changes of all packages, and prints a line for each that was not noticed and for each package.
func run(ctx context.Context, out io.Writer, o options) error {
	same, err := equivalents()
	if err != nil {
		return err
	}
	weak := false
	for _, path := range o.packages {
		b, err := newBench(ctx, path, o.own)
		if err != nil {
			return err
		}
		tried, found, equal := 0, 0, 0
		next, err := draw(path, o.seed)
		if err != nil {
			return err
		}
		for tried < o.changes {
			s, ok := next()
			if !ok {
				break
			}
			v, err := b.try(ctx, s)
			if err != nil {
				return err
			}
			switch v {
			case uncompiled:
				continue
			case noticed:
				found++
			case survived:
				word := "survived"
				if same[s.key()] {
					word = "the same"
					equal++
				}
				_, _ = fmt.Fprintf(out, "%s  %s:%d  %s  ->  %s\n", word, s.file, s.line, shorten(s.was), shorten(s.instead))
			}
			tried++
		}
		_, _ = fmt.Fprintf(out, "mutants %s: %d changes, %d noticed (%d %%), %d do the same, seed %d\n", path, tried, found,
			100*found/max(1, tried), equal, o.seed)
		weak = weak || 100*found < least*tried
	}
	if weak {
		return errWeak
	}
	return nil
}

// draw returns a function that draws one change of a package after the other, none twice: first a kind, and then a
// place.
func draw(folder string, seed uint64) (func() (site, bool), error) {
	all, err := sitesOf(folder)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a sample
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		random.Shuffle(len(all[kind]), func(i, j int) { all[kind][i], all[kind][j] = all[kind][j], all[kind][i] })
	}
	return func() (site, bool) {
		maps.DeleteFunc(all, func(_ string, left []site) bool { return len(left) == 0 })
		kinds := slices.Sorted(maps.Keys(all))
		if len(kinds) == 0 {
			return site{}, false
		}
		kind := kinds[random.IntN(len(kinds))]
		s := all[kind][0]
		all[kind] = all[kind][1:]
		return s, true
	}, nil
}

//go:embed equivalent.json
var equivalent []byte

// An equal is a change after which a package does the same.
type equal struct {
	File, Was, Instead string
	Why                string
}

// equivalents returns the keys of all changes that are known to change nothing.
func equivalents() (map[string]bool, error) {
	var all []equal
	if err := json.Unmarshal(equivalent, &all); err != nil {
		return nil, fmt.Errorf("equivalent.json: %w", err)
	}
	out := map[string]bool{}
	for i, e := range all {
		if e.Why == "" {
			return nil, fmt.Errorf("equivalent.json: entry %d has no reason", i)
		}
		out[site{file: e.File, was: e.Was, instead: e.Instead}.key()] = true
	}
	return out, nil
}

// key is the name of a change that stays while lines above it change.
func (s site) key() string { return s.file + "\n" + s.was + "\n" + s.instead }

// shown is how many characters of a text are printed.
const shown = 70

func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > shown {
		return string(r[:shown]) + "…"
	}
	return text
}
