package planner_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/trace"
)

var proofDecisions = flag.Int("proof-decisions", 2000, "how many decisions TestProofLaw makes")

// prove holds that the proof agrees with an honest plan about "it", and that it accepts a
// plan that skips "it" for the same reason, or without one, only if the program sees the same
// on both sides. It returns what does not hold.
func prove(t *testing.T, in planner.Input, honest *plan.Plan, same bool) string {
	t.Helper()
	if gaps := verify(t, in, honest); len(gaps) > 0 {
		return fmt.Sprintf("the honest plan is refuted: %v", gaps)
	}
	if d, _ := honest.Decision("it"); d.Decision == plan.Skip || same {
		return ""
	}
	forged := clone(honest)
	*decision(forged), forged.Tasks = skipBy(plan.RungState, ""), nil
	decision(forged).Believed = false
	if err := forged.Seal(); err != nil {
		t.Fatal(err)
	}
	if gaps := verify(t, in, forged); len(gaps) == 0 {
		return "a skip that is wrong is accepted"
	}
	return ""
}

// lawProgram is a program that sends one query, and how the planner knows of the query.
type lawProgram struct {
	settings string
	declared bool // it is a declared query
	ordered  bool // the order of lists counts
}

var lawPrograms = []lawProgram{
	{exec + "integrations: {it: {queries: [it.graphql]}}\n", true, false},
	{exec + "integrations: {it: {queries: [it.graphql], list_order: significant}}\n", true, true},
	{exec + "integrations: {it: {queries: [it.graphql], shards: {by: ['ROOT[*].name'], arg: --name}}}\n", true, false},
	{exec + "integrations: {it: {trace: exact}}\n", false, true},
	{exec + "integrations: {it: {trace: static}}\n", false, true},
	{exec + "integrations: {it: {trace: static, list_order: ignored}}\n", false, false},
}

func (p lawProgram) sharded() bool { return strings.Contains(p.settings, "ROOT") }

// TestProofLaw holds, for random bundles, queries and changes, that planner and proof agree
// about every plan, and that neither of them lets a program be skipped that sees something
// else on head.
func TestProofLaw(t *testing.T) {
	decided, skipped, shards, differing := 0, 0, 0, 0
	for seed := uint64(0); decided < *proofDecisions; seed++ {
		c := chooser{rand.New(rand.NewPCG(seed, 13))} //nolint:gosec // repeatable
		base, query, p := c.world(), c.query(), lawPrograms[c.IntN(len(lawPrograms))]
		for p.sharded() && !strings.HasPrefix(query[4:], " { name ") {
			query = c.query()
		}
		p.settings = strings.ReplaceAll(p.settings, "ROOT", query[2:4])
		def := definition("it", object{"cmd": "it"})
		def["schemas"] = list{"/a-1.yml", "/b-1.yml", "/c-1.yml"}
		base.data["/it.yml"] = def
		ran := copyOf(base)
		if c.IntN(3) == 0 {
			c.change(ran)
		}
		then := ask(t, ran.bundle(t, nil), query)
		for range 4 {
			head := copyOf(base)
			for range 1 + c.IntN(2) {
				c.change(head)
			}
			in := input(t, base, head, p.settings)
			in.ReadQuery = func(string) ([]byte, error) { return []byte(query), nil }
			if !p.declared {
				in.Traces = storedTraces{traces: map[string][]*trace.Trace{"": {lawTrace(t, ran, query)}}}
			}
			in.Dependences = knownOf(then.depends, nil)
			honest := made(t, in)
			d, _ := honest.Decision("it")
			before, after := ask(t, in.Base, query), ask(t, in.Head, query)
			same := p.view(t, before.answer) == p.view(t, after.answer)
			if !p.declared { // or what it saw when it passed
				same = same || then.answer == after.answer
			}
			decided++
			if !same {
				differing++
			}
			switch d.Decision {
			case plan.Skip:
				skipped++
			case plan.Shards:
				shards++
			}
			why := prove(t, in, honest, same)
			if d.Decision == plan.Skip && !same {
				why = "skipped, but the program sees something else"
			}
			if why != "" {
				t.Fatalf("seed %d: %s\n%s%s\n%s: %s\nbase %s\nhead %s", seed, why, p.settings, query, brief(d), d.Reason,
					before.answer, after.answer)
			}
		}
	}
	t.Logf("%d decisions, %d skips, %d by shard, %d changes of what the program sees", decided, skipped, shards, differing)
	if skipped < decided/10 || differing < decided/10 || shards == 0 {
		t.Errorf("of %d decisions %d skip, %d are by shard, and %d answers differ: the generator is one-sided", decided,
			skipped, shards, differing)
	}
}

// lawTrace is the trace of a program that asked one query of head.
func lawTrace(t *testing.T, s *side, query string) *trace.Trace {
	t.Helper()
	b := s.bundle(t, nil)
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	res := gql.New(b, schema).Answer(context.Background(), gql.Request{Query: query})
	return &trace.Trace{
		TaskKey: trace.TaskKey{Integration: "it"}, Digest: "sha256:then", Base: "then", Head: b.SHA256(),
		Requests: []trace.RecordedRequest{{Side: trace.Head, Query: query, Answer: trace.Answer(res.Status, res.JSON())}},
	}
}

// view is what the program sees of an answer.
func (p lawProgram) view(t *testing.T, answer string) string {
	t.Helper()
	if p.ordered {
		return answer
	}
	var v any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(program{}.plain(v.(object)["data"]))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
