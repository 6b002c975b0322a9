package tally

import (
	"maps"

	"github.com/app-sre/prcheck/plan"
)

// A Count says what plans decided about one integration, and how its tasks ended. The sum
// of two counts is a count.
type Count struct {
	// Decisions count the plans by the rung that decided and what it decided.
	Run      map[plan.Rung]int `json:"run,omitempty"`
	Shards   map[plan.Rung]int `json:"shards,omitempty"`
	Skip     map[plan.Rung]int `json:"skip,omitempty"`
	Believed int               `json:"believed,omitempty"` // skips that rest on the definition's word alone
	Reused   int               `json:"reused,omitempty"`   // tasks that passed before with the same inputs

	// Tasks count how tasks ended. Other is all that is neither of the first three.
	Passed int `json:"passed,omitempty"`
	Failed int `json:"failed,omitempty"`
	OnBase int `json:"on_base,omitempty"` // failed the same way on base
	Other  int `json:"other,omitempty"`
	Flaked int `json:"flaked,omitempty"` // passed after an attempt that failed

	Seconds  float64           `json:"seconds,omitempty"`  // of all tasks, their runs on base included
	Quiet    float64           `json:"quiet,omitempty"`    // of passed tasks that announced no effect of the change
	Needless map[Cause]float64 `json:"needless,omitempty"` // seconds that another way to select would have saved
}

// A Cause is why a run turned out to be needless.
type Cause string

// The causes. ByQueries: the integration has no queries that could be compared, and read
// none of the fields that changed. BySchemas: its definition allows a schema that changed
// and that it did not read. ByShards: it ran as a whole although its desired state differs
// only somewhere; how much of this time shards would save is not known.
const (
	ByQueries Cause = "queries"
	BySchemas Cause = "schemas"
	ByShards  Cause = "shards"
)

// Causes returns all causes in a fixed order.
func Causes() []Cause { return []Cause{BySchemas, ByQueries, ByShards} }

// Decided returns how many plans decided about the integration.
func (c Count) Decided() int { return sum(c.Run) + sum(c.Shards) + sum(c.Skip) }

// Tasks returns how many tasks ended.
func (c Count) Tasks() int { return c.Passed + c.Failed + c.OnBase + c.Other }

// Plus returns the sum of two counts.
func (c Count) Plus(d Count) Count {
	return Count{
		Run: added(c.Run, d.Run), Shards: added(c.Shards, d.Shards), Skip: added(c.Skip, d.Skip),
		Believed: c.Believed + d.Believed, Reused: c.Reused + d.Reused,
		Passed: c.Passed + d.Passed, Failed: c.Failed + d.Failed, OnBase: c.OnBase + d.OnBase, Other: c.Other + d.Other,
		Flaked:  c.Flaked + d.Flaked,
		Seconds: c.Seconds + d.Seconds, Quiet: c.Quiet + d.Quiet, Needless: added(c.Needless, d.Needless),
	}
}

func sum[K comparable](m map[K]int) int {
	total := 0
	for _, n := range m {
		total += n
	}
	return total
}

// added returns the sum of two maps, nil if both are empty.
func added[K comparable, N int | float64](a, b map[K]N) map[K]N {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[K]N{}
	}
	for k, n := range b {
		out[k] += n
	}
	return out
}
