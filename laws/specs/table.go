package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// names are the laws for people.
var names = map[int]string{quiet: "quiet", lossless: "loses nothing", harmless: "drift never destroys",
	failedIsRed: "failed is red",
	secretive:   "no secret out", toldBefore: "told before the merge"}

// write prints what was counted, and the first breaches.
func (t *tally) write(out io.Writer, o options, took time.Duration, commit string) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // it is for people
	for i, b := range t.breaches[:min(len(t.breaches), o.shown)] {
		p("%s: %s, seed %d: %s\n", names[b.law], b.kind.name, t.seeds[i], b.why)
	}
	p("types                   %d\nbodies                  %d\nrequests                %d\n", t.types, t.bodies,
		t.requests)
	for law := quiet; law <= toldBefore; law++ {
		broken, lines := map[string]bool{}, 0
		for _, b := range t.breaches {
			if b.law == law {
				broken[b.kind.name+b.kind.path] = true
				lines++
			}
		}
		p("%-22s  broken for %d types, %d times\n", names[law], len(broken), lines)
	}
	p("left out                %d addresses\n", len(t.left))
	why := map[string]int{}
	for _, reason := range t.left {
		why[reason]++
	}
	for _, reason := range slices.Sorted(maps.Keys(why)) {
		p("  %d: %s\n", why[reason], reason)
	}
	p("seconds %.1f, seeds %d to %d, commit %s\n", took.Seconds(), o.seed, o.seed+uint64(o.seeds)-1, commit) //nolint:gosec // a number of the command line
}
