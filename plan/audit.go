package plan

import (
	"fmt"
	"math"
)

// A Skipped is a unit of work that a plan leaves out: the task that would do it, and the
// rung that left it out.
type Skipped struct {
	Task Task
	Rung Rung
	// Passed tells that an earlier run that passed is the proof, and not that base and head are
	// alike: head may say something else than base, but it must pass.
	Passed bool
}

// An Audit tells how a sample ended of the units of work that a plan leaves out. Each unit of
// the sample ran on head and on base, to see whether both say the same.
type Audit struct {
	Rate float64 `json:"rate"`           // how probable it is for a unit to be in the sample, from 0 to 1
	Seed string  `json:"seed,omitempty"` // another seed draws another sample
	// Skipped is how many units the plan leaves out that can run on both sides.
	Skipped int       `json:"skipped"`
	Units   []Audited `json:"units"` // the sample, in the order in which it was audited
	// Total counts the units that the state remembers of the last year, those of this audit
	// included, by the rung that left them out. It is empty if nothing is remembered.
	Total map[Rung]AuditCount `json:"total,omitempty"`
}

// An Audited is a unit of the sample, and how it ended.
type Audited struct {
	Task        string       `json:"task"` // the id that it would have in a plan
	Integration string       `json:"integration"`
	Shard       string       `json:"shard,omitempty"` // with the number of a static shard
	Rung        Rung         `json:"rung"`            // that left it out
	Outcome     AuditOutcome `json:"outcome"`
	Finding     string       `json:"finding,omitempty"` // one line: what differs, or why nothing can be said
	// Remedy is the smallest change of a setting or definition that was found to make the plan
	// run the unit; "" if the skip is right, or if no such change is known.
	Remedy  string   `json:"remedy,omitempty"`
	Seconds float64  `json:"seconds"`        // of all its runs
	Logs    []string `json:"logs,omitempty"` // paths of the complete logs, if the skip is not right
}

// An AuditOutcome says whether it was right to leave out a unit.
type AuditOutcome string

// The outcomes. Only the first two say something about the skip.
const (
	AuditRight   AuditOutcome = "right"   // head says the same as base
	AuditWrong   AuditOutcome = "wrong"   // two pairs of runs differ, and runs of one side do not
	AuditUnclear AuditOutcome = "unclear" // the unit ran, but the sides cannot be compared
	AuditLeft    AuditOutcome = "left"    // the unit did not run to its end, since the time was used up
)

// An AuditCount counts units by their outcome.
type AuditCount struct {
	Right   int `json:"right"`
	Wrong   int `json:"wrong"`
	Unclear int `json:"unclear,omitempty"`
}

// Plus returns the sum of two counts.
func (c AuditCount) Plus(d AuditCount) AuditCount {
	return AuditCount{c.Right + d.Right, c.Wrong + d.Wrong, c.Unclear + d.Unclear}
}

// Audited returns how many units are known to be right or wrong.
func (c AuditCount) Audited() int { return c.Right + c.Wrong }

// String returns how many skips are wrong, with the bound on their share, as one clause.
func (c AuditCount) String() string {
	out := fmt.Sprintf("%d wrong of %d audited skips", c.Wrong, c.Audited())
	if c.Audited() == 1 {
		out = fmt.Sprintf("%d wrong of 1 audited skip", c.Wrong)
	}
	if c.Audited() > 0 {
		out += ": less than " + percent(c.UpperBound())
	}
	if c.Unclear > 0 {
		out += fmt.Sprintf("; %d more could not be compared", c.Unclear)
	}
	return out
}

// percent returns a share in percent with two significant digits, rounded up, so that it
// never promises too much.
func percent(share float64) string {
	p := share * 100
	unit := math.Pow(10, math.Floor(math.Log10(p))-1)
	p = math.Min(math.Ceil(p/unit-1e-9)*unit, 100)
	return fmt.Sprintf("%.3g %%", p)
}

// significance is the probability with which a bound may be too low.
const significance = 0.05

// UpperBound returns a share that the wrong skips stay below with a confidence of 95 %: the
// one-sided bound of Clopper and Pearson, "The use of confidence or fiducial limits
// illustrated in the case of the binomial" (Biometrika 26, 1934). It is 1 if nothing is known.
func (c AuditCount) UpperBound() float64 {
	n, k := c.Audited(), c.Wrong
	if n == 0 || k >= n {
		return 1
	}
	low, high := float64(k)/float64(n), 1.0
	for range 60 {
		if middle := (low + high) / 2; atMost(k, n, middle) > significance {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// atMost returns the probability of at most k hits in n tries that hit with probability p.
func atMost(k, n int, p float64) float64 {
	choose := func(n int) float64 { v, _ := math.Lgamma(float64(n) + 1); return v }
	sum := 0.0
	for i := 0; i <= k; i++ {
		sum += math.Exp(choose(n) - choose(i) - choose(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

// Count returns the outcomes of an audit, by the rung that left the units out. Units that did
// not run do not count.
func (a *Audit) Count() map[Rung]AuditCount {
	out := map[Rung]AuditCount{}
	for _, u := range a.Units {
		var one AuditCount
		switch u.Outcome {
		case AuditRight:
			one.Right = 1
		case AuditWrong:
			one.Wrong = 1
		case AuditUnclear:
			one.Unclear = 1
		case AuditLeft:
			continue
		}
		out[u.Rung] = out[u.Rung].Plus(one)
	}
	return out
}

// Sum returns the count of all rungs together.
func Sum(counts map[Rung]AuditCount) AuditCount {
	var out AuditCount
	for _, c := range counts {
		out = out.Plus(c)
	}
	return out
}

// mergeAudits returns the audits of all parts together, nil if no part has one. Each part
// audits other units. The largest total is the last one.
func mergeAudits(parts []*Results) *Audit {
	var out *Audit
	for _, p := range parts {
		if p.Audit == nil {
			continue
		}
		if out == nil {
			out = &Audit{Rate: p.Audit.Rate, Seed: p.Audit.Seed}
		}
		out.Skipped += p.Audit.Skipped
		out.Units = append(out.Units, p.Audit.Units...)
		if Sum(p.Audit.Total).Audited() >= Sum(out.Total).Audited() {
			out.Total = p.Audit.Total
		}
	}
	return out
}
