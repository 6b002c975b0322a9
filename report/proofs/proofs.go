package proofs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// A Verdict is what the replay says of a decision.
type Verdict string

// The verdicts. The replay has nothing to prove where an integration runs in full.
const (
	Runs     Verdict = "runs"
	Proven   Verdict = "proven"
	Believed Verdict = "believed"
	Refuted  Verdict = "refuted"
)

// A Subject is what the replay knows about one integration.
type Subject struct {
	Verdict Verdict
	Why     string // why the decision does not hold, when it is refuted
	Assumed []plan.Assumption
	Schemas []string // that its definition allows, on either side
	Queries []string // that the settings declare
}

// An Input is everything that the page shows.
type Input struct {
	Plan     *plan.Plan
	Subjects map[string]Subject // by the name of the integration
	Assumed  map[plan.Assumption]int
	Server   string // that was asked beside the embedded engine, and how it answered; "" when none was
}

// Bounds of the page. What is left out is counted.
const (
	maxSchemas = 300 // groups of changed files
	maxFiles   = 5   // of a schema
	maxFields  = 12  // of a schema
	maxNames   = 20  // in a list of an integration
)

// A group is the changed datafiles of one schema.
type group struct {
	Schema string
	Count  int
	Files  names
	Fields names
}

// groups returns the changed datafiles by their schemas, sorted. A file that changed its schema
// counts for both.
func groups(c plan.Changes) []group {
	type found struct {
		files  []string
		fields map[string]bool
	}
	by := map[string]*found{}
	for _, f := range c.Datafiles {
		if f.Kind == plan.Metadata {
			continue
		}
		for _, schema := range slices.Compact([]string{f.Schema, cmp.Or(f.OldSchema, f.Schema)}) {
			g := by[schema]
			if g == nil {
				g = &found{fields: map[string]bool{}}
				by[schema] = g
			}
			g.files = append(g.files, fmt.Sprintf("%s (%s)", f.Path, f.Kind))
			for _, field := range f.Fields {
				g.fields[field] = true
			}
		}
	}
	out := make([]group, 0, len(by))
	for schema, g := range by {
		slices.Sort(g.files)
		out = append(out, group{schema, len(g.files), bounded(g.files, maxFiles), bounded(keys(g.fields), maxFields)})
	}
	slices.SortFunc(out, func(a, b group) int { return strings.Compare(a.Schema, b.Schema) })
	return out
}

// keys returns the members of a set, sorted.
func keys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// names is a list that may be cut.
type names struct {
	Shown []string
	More  int
}

func bounded(list []string, most int) names {
	if len(list) <= most {
		return names{Shown: list}
	}
	return names{list[:most], len(list) - most}
}

// A row is one integration on the page.
type row struct {
	Name     string
	Decision plan.Action
	Rung     plan.Rung
	Verdict  Verdict
	Why      string
	Assumed  []plan.Assumption
	Reason   string
	Allowed  names // schemas that it may read
	Differs  names // those of them with changed files
	Same     int   // how many of the changed schemas it may not read
	Queries  names
	Evidence plan.Evidence
	Paths    names
	Follows  []string
}

// rows returns the integrations: what is refuted first, then skips, then what runs.
func rows(in Input, changed []group) []row {
	out := make([]row, 0, len(in.Plan.Integrations))
	for _, d := range in.Plan.Integrations {
		s, known := in.Subjects[d.Name]
		if !known || s.Verdict == "" || s.Verdict == Runs && d.Decision != plan.Run {
			s.Verdict, s.Why = Refuted, "nothing was replayed for it"
		}
		out = append(out, rowOf(d, s, in.Plan.Changes, changed))
	}
	for name, s := range in.Subjects {
		if _, decided := in.Plan.Decision(name); !decided && s.Verdict == Refuted {
			out = append(out, rowOf(plan.Decision{Name: name, Reason: s.Why}, s, in.Plan.Changes, changed))
		}
	}
	slices.SortStableFunc(out, func(a, b row) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Name, b.Name))
	})
	return out
}

func rank(r row) int { return slices.Index([]Verdict{Refuted, Believed, Proven, Runs}, r.Verdict) }

func rowOf(d plan.Decision, s Subject, c plan.Changes, changed []group) row {
	r := row{
		Name: d.Name, Decision: d.Decision, Rung: d.Rung, Verdict: s.Verdict, Why: s.Why, Assumed: s.Assumed,
		Reason:  d.Reason,
		Allowed: bounded(s.Schemas, maxNames), Queries: bounded(s.Queries, maxNames), Evidence: d.Evidence,
		Paths: bounded(d.Evidence.Paths, maxNames),
	}
	may := map[string]bool{}
	for _, schema := range s.Schemas {
		may[schema] = true
	}
	var differs []string
	for _, g := range changed {
		if may[g.Schema] {
			differs = append(differs, fmt.Sprintf("%s: %s", g.Schema, phrase.Count(g.Count, "file")))
		} else {
			r.Same++
		}
	}
	r.Differs = bounded(differs, maxNames)
	r.Follows = follows(d, r, c)
	return r
}
