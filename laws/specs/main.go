package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options say what is held.
type options struct {
	specs   string // folders of documents
	seeds   int
	seed    uint64
	only    string // a part of the name of types
	shown   int
	mutants bool
}

// errBroken is the result when a law does not hold.
var errBroken = errors.New("a law does not hold")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.specs, "specs", "", "folders of API specifications of ARM, with commas between them")
	flag.IntVar(&o.seeds, "seeds", 3, "how many bodies are made for each type")
	flag.Uint64Var(&o.seed, "seed", 1, "the first seed")
	flag.StringVar(&o.only, "only", "", "only types whose names have this text")
	flag.IntVar(&o.shown, "shown", 20, "how many breaches are printed")
	flag.BoolVar(&o.mutants, "mutants", false, "build broken engines and let the laws catch them")
	flag.Parse()
	err := start(ctx, os.Stdout, o)
	switch {
	case errors.Is(err, errBroken):
		os.Exit(1) //nolint:gocritic // nothing runs any more
	case err != nil:
		_, _ = fmt.Fprintf(os.Stderr, "specs: %v\n", err)
		os.Exit(3)
	}
}

// A tally is what was counted.
type tally struct {
	types, bodies, requests int
	left                    map[string]string
	breaches                []breach
	seeds                   []uint64 // of the breaches
}

// start holds the laws over all folders, or lets them catch the mutants.
func start(ctx context.Context, out io.Writer, o options) error {
	if o.specs == "" {
		return errors.New("name folders of specifications with --specs")
	}
	if o.mutants {
		return catch(ctx, out, o)
	}
	began := time.Now()
	t := &tally{left: map[string]string{}}
	for dir := range strings.SplitSeq(o.specs, ",") {
		if err := t.folder(ctx, dir, o); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	t.write(out, o, time.Since(began), commitOf(ctx))
	if len(t.breaches) > 0 {
		return errBroken
	}
	return nil
}

// most is how many types one scene has.
const most = 60

// folder holds the laws over the types of a folder.
func (t *tally) folder(ctx context.Context, dir string, o options) error {
	b, err := openBook(dir)
	if err != nil {
		return err
	}
	kinds, left := b.kinds()
	for at, why := range left {
		t.left[filepath.Base(dir)+"/"+at] = why
	}
	kinds = slices.DeleteFunc(kinds, func(k *kind) bool { return !strings.Contains(k.name, o.only) })
	seen := map[string]bool{}
	kinds = slices.DeleteFunc(kinds, func(k *kind) bool {
		id := strings.ToLower(k.id)
		defer func() { seen[id] = true }()
		return seen[id]
	})
	t.types += len(kinds)
	for part := range slices.Chunk(kinds, most) {
		for n := range o.seeds {
			seed := o.seed + uint64(n) //nolint:gosec // a number of the command line
			l, err := hold(ctx, b, part, seed)
			if err != nil {
				return err
			}
			t.bodies += len(part)
			t.requests += l.service.requests
			for _, one := range l.breaches {
				t.breaches, t.seeds = append(t.breaches, one), append(t.seeds, seed)
			}
		}
	}
	return nil
}

func commitOf(ctx context.Context) string {
	raw, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(raw))
}
