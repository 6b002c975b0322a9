package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Options say what is checked.
type options struct {
	native      string // "" is all natives
	pairs, from int
	seed        uint64
	workers     int
	edits       string // with one merge request: only these edits
	shown       int
	noShrink    bool
	asJSON      bool // print what was counted for a process that adds it up
	mutants     bool
	mutant      string
}

// errViolated is the result when the law does not hold.
var errViolated = errors.New("the law does not hold")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program
	var o options
	flag.StringVar(&o.native, "native", "", "the native that is checked (default all)")
	flag.IntVar(&o.pairs, "pairs", 200, "how many merge requests are checked for each native")
	flag.IntVar(&o.from, "from", 0, "number of the first merge request, to repeat one")
	flag.Uint64Var(&o.seed, "seed", 1, "another seed draws other merge requests")
	flag.IntVar(&o.workers, "workers", 2, "how many processes check at once")
	flag.StringVar(&o.edits, "edits", "", "instead of those that are drawn: names of edits with commas between them")
	flag.IntVar(&o.shown, "shown", 5, "how many violations are made small and printed for each native")
	flag.BoolVar(&o.noShrink, "no-shrink", false, "print differences as they were found")
	flag.BoolVar(&o.asJSON, "json", false, "print what was counted as JSON")
	flag.BoolVar(&o.mutants, "mutants", false, "build broken engines and let the law catch them")
	flag.StringVar(&o.mutant, "mutant", "", "only the broken engines whose names have this text")
	flag.Parse()
	if flag.NArg() > 0 {
		_, _ = fmt.Fprintln(os.Stderr, "secrets: there are no arguments")
		os.Exit(2) //nolint:gocritic // nothing runs yet
	}
	if err := start(ctx, os.Stdout, o); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "secrets: %v\n", err)
		if errors.Is(err, errViolated) {
			os.Exit(1)
		}
		os.Exit(3)
	}
}

// start checks merge requests of all natives, or the mutants.
func start(ctx context.Context, out io.Writer, o options) error {
	switch {
	case o.mutants:
		return catch(ctx, out, o)
	case o.asJSON:
		s, err := count(ctx, o)
		return errors.Join(err, json.NewEncoder(out).Encode(s))
	}
	began, commit := time.Now(), commitOf(ctx)
	all := map[string]*sum{}
	var names []string
	for _, k := range kinds {
		if o.native != "" && o.native != k.name {
			continue
		}
		names = append(names, k.name)
		of := o
		of.native = k.name
		s, err := countAll(ctx, of)
		if err != nil {
			return err
		}
		all[k.name] = s
		show(out, o, s)
	}
	if len(names) == 0 {
		_, err := kindOf(o.native)
		return err
	}
	write(out, o, names, all, commit, time.Since(began))
	for _, s := range all {
		if s.Classes[violation] > 0 {
			return errViolated
		}
	}
	return ctx.Err()
}

// A sum is what was counted over merge requests of one native.
type sum struct {
	Requests    int            `json:"requests"` // merge requests
	Read        int            `json:"read"`     // of which a run read a secret that is no credential of base
	Owned       int            `json:"owned"`    // of which a run read a credential
	Sent        int            `json:"sent"`     // of which a run sent something
	Lines       int            `json:"lines"`    // that were sent
	Findings    int            `json:"findings"`
	Effects     int            `json:"effects"`
	Failed      int            `json:"failed"`
	Classes     map[class]int  `json:"classes"`
	Differences []difference   `json:"differences"` // the first of each class
	Codes       map[string]int `json:"codes"`       // runs with a finding of a code
	Edits       map[string]int `json:"edits"`       // how often each edit was drawn
}

func newSum() *sum {
	return &sum{Classes: map[class]int{}, Codes: map[string]int{}, Edits: map[string]int{}}
}

// count checks merge requests in this process.
func count(ctx context.Context, o options) (*sum, error) {
	plug()
	temp, err := tempFolder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	l, err := newLaw(ctx, o.native, o.seed, temp)
	if err != nil {
		return nil, err
	}
	s := newSum()
	for i := o.from; i < o.from+o.pairs && ctx.Err() == nil; i++ {
		edits := l.kind.draw(o.seed, i)
		if o.edits != "" {
			edits = l.kind.ordered(strings.Split(o.edits, ","))
		}
		a, d, err := l.check(ctx, i, edits)
		if err != nil {
			return s, fmt.Errorf("merge request %d of %s (%s): %w", i, o.native, strings.Join(edits, ", "), err)
		}
		s.take(a, d, edits)
		if d == nil || s.Classes[d.Class] > o.shown {
			continue
		}
		if !o.noShrink && d.Class != unsteady {
			*d = l.shrink(ctx, *d)
		}
		s.Differences = append(s.Differences, *d)
	}
	return s, nil
}

// take adds the outcome of a merge request.
func (s *sum) take(a outcome, d *difference, edits []string) {
	add := func(to *int, is bool) {
		if is {
			*to++
		}
	}
	s.Requests++
	s.Lines += len(a.sent)
	add(&s.Read, a.secrets > 0)
	add(&s.Owned, a.secrets < len(a.read))
	add(&s.Sent, len(a.sent) > 0)
	add(&s.Findings, len(a.findings) > 0)
	add(&s.Effects, a.effects > 0)
	add(&s.Failed, a.failed)
	for code := range a.findings {
		s.Codes[code]++
	}
	for _, e := range edits {
		s.Edits[e]++
	}
	if d != nil {
		s.Classes[d.Class]++
	}
}

// add adds another sum.
func (s *sum) add(o *sum) {
	s.Requests, s.Read, s.Owned, s.Sent, s.Lines = s.Requests+o.Requests, s.Read+o.Read, s.Owned+o.Owned, s.Sent+o.Sent,
		s.Lines+o.Lines
	s.Findings, s.Effects, s.Failed = s.Findings+o.Findings, s.Effects+o.Effects, s.Failed+o.Failed
	for c, n := range o.Classes {
		s.Classes[c] += n
	}
	for c, n := range o.Codes {
		s.Codes[c] += n
	}
	for e, n := range o.Edits {
		s.Edits[e] += n
	}
	s.Differences = append(s.Differences, o.Differences...)
	slices.SortStableFunc(s.Differences, func(a, b difference) int { return a.Index - b.Index })
}

// tempFolder makes a folder in memory, if the system has one.
func tempFolder() (string, error) {
	if dir, err := os.MkdirTemp("/dev/shm", "secrets-"); err == nil {
		return dir, nil
	}
	return os.MkdirTemp("", "secrets-")
}

// show prints the first violations, and one difference of each other class.
func show(out io.Writer, o options, s *sum) {
	for _, c := range classes {
		left := o.shown
		if c != violation {
			left = min(left, 1)
		}
		for _, d := range s.Differences {
			if left == 0 || d.Class != c {
				continue
			}
			left--
			_, _ = fmt.Fprintf(out,
				"%s of %s, merge request %d, in %s:\n  %.400q\n  %.400q\n  go run ./laws/secrets --native %s --seed %d --from %d "+
					"--pairs 1 --edits %q\n",
				d.Class, d.Native, d.Index, d.Where, d.First, d.Second, d.Native, o.seed, d.Index, strings.Join(d.Edits, ","))
		}
	}
}

// commitOf returns the commit of the checkout that the law was started in, "" if there is none.
func commitOf(ctx context.Context) string {
	out, err := command(context.WithoutCancel(ctx), ".", "git", "describe", "--always", "--dirty", "--exclude=*")
	if err != nil {
		return ""
	}
	return out
}

// write writes the table of all that was counted.
func write(out io.Writer, o options, names []string, all map[string]*sum, commit string, took time.Duration) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name string, of func(*sum) int) {
		_, _ = fmt.Fprint(t, name)
		for _, n := range names {
			_, _ = fmt.Fprintf(t, "\t%d", of(all[n]))
		}
		_, _ = fmt.Fprintln(t)
	}
	_, _ = fmt.Fprintln(t, "\t"+strings.Join(names, "\t"))
	row("merge requests", func(s *sum) int { return s.Requests })
	row("read a secret of the change", func(s *sum) int { return s.Read })
	row("read a credential of base", func(s *sum) int { return s.Owned })
	row("sent a request", func(s *sum) int { return s.Sent })
	row("lines on the wire", func(s *sum) int { return s.Lines })
	row("with findings", func(s *sum) int { return s.Findings })
	row("with effects", func(s *sum) int { return s.Effects })
	row("failed", func(s *sum) int { return s.Failed })
	for _, c := range classes {
		row(string(c), func(s *sum) int { return s.Classes[c] })
	}
	_ = t.Flush()
	for _, n := range names {
		var codes []string
		for _, code := range slices.Sorted(maps.Keys(all[n].Codes)) {
			codes = append(codes, fmt.Sprintf("%s %d", code, all[n].Codes[code]))
		}
		_, _ = fmt.Fprintf(out, "findings of %s: %s\n", n, strings.Join(codes, ", "))
	}
	_, _ = fmt.Fprintf(out, "seconds %.1f, seed %d, commit %s\n", took.Seconds(), o.seed, commit)
}
