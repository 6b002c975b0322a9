package main

import (
	"fmt"
	"io"
	"sync"
)

// findings are what one pair shows.
type findings struct {
	checks, runs, skips, reused                              int
	wrongSkips, falseGreens, overStrict, notChecked, invalid int
	needless, unconcerned, trouble                           int
	violations, remarks                                      []string
	lastRan, ranBefore                                       map[string]bool
}

// failed returns the findings of a pair that could not be made.
func (f findings) failed(err error) findings {
	f.trouble++
	f.violations = append(f.violations, "broken pair: "+err.Error())
	return f
}

// maxRemarks bounds how many remarks are printed.
const maxRemarks = 12

// counts are the findings of all pairs.
type counts struct {
	findings
	mu      sync.Mutex
	out     io.Writer
	printed int
}

// add adds the findings of a pair, and prints its violations and the first remarks.
func (c *counts) add(seed uint64, f findings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for sum, n := range map[*int]int{
		&c.checks: f.checks, &c.runs: f.runs, &c.skips: f.skips, &c.reused: f.reused, &c.wrongSkips: f.wrongSkips, &c.falseGreens: f.falseGreens,
		&c.overStrict: f.overStrict, &c.notChecked: f.notChecked, &c.invalid: f.invalid, &c.needless: f.needless, &c.unconcerned: f.unconcerned, &c.trouble: f.trouble,
	} {
		*sum += n
	}
	for _, v := range f.violations {
		fmt.Fprintf(c.out, "seed %d: %s\n", seed, v)
	}
	for _, r := range f.remarks {
		if c.printed++; c.printed <= maxRemarks {
			fmt.Fprintf(c.out, "seed %d: %s\n", seed, r)
		}
	}
}
