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
	Queries []Query  // that the settings declare, or that its runs asked
	// Reads are the files of the repository that its runs used, if they were recorded.
	Reads []string
}

// A Query is the text that an integration asks.
type Query struct{ Name, Text string }

// An Input is everything that the page shows.
type Input struct {
	Plan     *plan.Plan
	Subjects map[string]Subject // by the name of the integration
	Assumed  map[plan.Assumption]int
	// Changed are the files of the repository that differ; nil if that is not known.
	Changed []string
	Server  string // that was asked beside the embedded engine, and how it answered; "" when none was
}

// Bounds of the page. What is left out is counted.
const (
	maxSchemas = 300 // groups of changed files
	maxFiles   = 5   // of a schema
	maxFields  = 12  // of a schema
	maxNames   = 20  // in a list of an integration
	maxQueries = 10  // of an integration
	maxQuery   = 16 << 10
	maxTexts   = 2 << 20 // bytes of all queries
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
	Queries  []shownQuery
	Changed  []changedField // fields that changed in files that it may read
	Reads    names          // files that its runs used
	Files    names          // files that changed
	HasReads bool
	Evidence plan.Evidence
	Paths    names
	Follows  []string
}

// rows returns the integrations: what is refuted first, then skips, then what runs.
func rows(in Input, changed []group) []row {
	room := maxTexts
	out := make([]row, 0, len(in.Plan.Integrations))
	for _, d := range in.Plan.Integrations {
		s, known := in.Subjects[d.Name]
		if !known || s.Verdict == "" || s.Verdict == Runs && d.Decision != plan.Run {
			s.Verdict, s.Why = Refuted, "nothing was replayed for it"
		}
		r := rowOf(d, s, in.Plan.Changes, changed)
		r.compare(in, s, &room)
		out = append(out, r)
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
		Allowed: bounded(s.Schemas, maxNames), Evidence: d.Evidence,
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

// assumedSentences say of one integration what nobody has proven.
var assumedSentences = map[plan.Assumption]string{
	plan.AssumedOrder: "That the order of lists makes no difference to it is believed: the settings let the order " +
		"of lists not count.",
	plan.AssumedSchemas: "That it reads nothing else is believed: no run, no trace and no strict setting stands " +
		"behind it.",
	plan.AssumedReads: "That its program opens no file that changed is believed: no run of it was recorded.",
	plan.AssumedRuns: "That its earlier run read no more than the settings allow is believed: that run was not " +
		"recorded.",
	plan.AssumedEnvironment: "That the declared environment is the same for all runs is believed.",
	plan.AssumedAnswers:     "That the server would have answered as prcheck does is believed: it did not answer.",
}

// follows says in sentences what the facts of a row rule out.
func follows(d plan.Decision, r row, c plan.Changes) []string {
	if r.Verdict == Refuted {
		return []string{"The replay does not agree with the plan: " + r.Why + ".",
			"So nothing is ruled out: do not trust this plan."}
	}
	var out []string
	if d.Decision != plan.Skip {
		out = append(out, "It runs, so nothing has to be proven about what runs.")
	} else {
		out = append(out, skipped(d, r, c)...)
	}
	if n := len(d.Evidence.Keys); d.Decision == plan.Shards && n > 0 {
		out = append(out,
			fmt.Sprintf("The desired states of both sides differ in %s only: no other shard can see a difference.",
				phrase.Count(n, "shard")))
	}
	if n := d.Evidence.Reused; n > 0 {
		out = append(out, fmt.Sprintf("%s passed before with the same inputs, so what they would do is known.",
			phrase.Count(n, "more task")))
	}
	for _, a := range r.Assumed {
		if s := assumedSentences[a]; s != "" {
			out = append(out, s)
		}
	}
	if r.Verdict == Believed && len(r.Assumed) == 0 {
		out = append(out, assumedSentences[plan.AssumedSchemas])
	}
	return out
}

// skipped says why a skipped integration cannot see the change.
func skipped(d plan.Decision, r row, c plan.Changes) []string {
	if len(d.Evidence.Traces) > 0 {
		return []string{"Its tasks passed before, and everything that they asked then has the same answer now."}
	}
	ruledOut := d.Rung.RulesOut()
	switch d.Rung {
	case plan.RungDefinition:
		ruledOut = strings.TrimSuffix(ruledOut, ".") + ": " + d.Reason + "."
	case plan.RungSchema:
		if len(r.Differs.Shown) > 0 || r.Same == 0 {
			return []string{fmt.Sprintf("Of %s, none makes a difference to it: %s.",
				phrase.Count(len(c.Datafiles), "changed datafile"), d.Reason)}
		}
		ruledOut = strings.TrimSuffix(ruledOut, ".") + " (" + phrase.Count(r.Same, "schema") + ")."
	}
	return []string{ruledOut}
}
