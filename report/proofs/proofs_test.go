package proofs_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report/proofs"
)

func page(t *testing.T, in proofs.Input) string {
	t.Helper()
	var b bytes.Buffer
	if err := proofs.HTML(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// skipAt returns a page about one integration that is skipped at a rung.
func skipAt(d plan.Decision, s proofs.Subject) proofs.Input {
	d.Name, d.Decision = "prices", plan.Skip
	return proofs.Input{
		Plan: &plan.Plan{
			Base: plan.Side{Ref: "base.json", SHA256: "aaa"}, Head: plan.Side{Ref: "head.json", SHA256: "bbb"},
			Changes: plan.Changes{Datafiles: []plan.Datafile{
				{Path: "/lamp.yml", Schema: "/product-1.yml", Kind: plan.Modified, Fields: []string{"/shelf"}},
				{Path: "/moved.yml", Schema: "/new-1.yml", OldSchema: "/old-1.yml", Kind: plan.Modified},
				{Path: "/unseen.yml", Schema: "/metadata-1.yml", Kind: plan.Metadata},
			}},
			Integrations: []plan.Decision{d},
		},
		Subjects: map[string]proofs.Subject{"prices": s}, Changed: []string{"docs/changed.md"},
	}
}

// Each kind of skip says what it rules out, and shows the facts that it rests on.
func TestSkips(t *testing.T) {
	proven := proofs.Subject{Verdict: proofs.Proven, Schemas: []string{"/product-1.yml"},
		Queries: []proofs.Query{{Name: "prices.graphql", Text: "{ products { name } }"}}}
	state := plan.Evidence{State: &plan.State{Base: "sha256:one", Head: "sha256:one"}}
	tests := []struct {
		name     string
		decision plan.Decision
		subject  proofs.Subject
		want     []string
	}{
		{"sides", plan.Decision{Rung: plan.RungFields}, proven, []string{"aaa", "bbb", "/product-1.yml: 1 file",
			"prices.graphql", "/lamp.yml (modified)", "/shelf"}},
		{"definition", plan.Decision{Rung: plan.RungDefinition, Reason: "it is disabled"}, proven,
			[]string{"Its definition decides alone whether it has a dry run: it is disabled."}},
		{"schema", plan.Decision{Rung: plan.RungSchema}, proofs.Subject{Verdict: proofs.Proven},
			[]string{"all changes are out of its reach (3 schemas)"}},
		{"both schemas", plan.Decision{Rung: plan.RungSchema},
			proofs.Subject{Verdict: proofs.Proven, Schemas: []string{"/old-1.yml"}}, []string{"/old-1.yml: 1 file"}},
		{"fields", plan.Decision{Rung: plan.RungFields}, proven, []string{"no changed field can be in one"}},
		{"query", plan.Decision{Rung: plan.RungFields}, proven, []string{"{ products { name } }",
			"/lamp.yml /shelf", "shelf is not in its queries"}},
		{"marked", plan.Decision{Rung: plan.RungState}, proofs.Subject{Verdict: proofs.Proven,
			Schemas: []string{"/product-1.yml"},
			Queries: []proofs.Query{{Name: "q", Text: "{ # shelf\n p(x: \"shelf\") { shelf } }"}}},
			[]string{"{ # shelf\n p(x: &#34;shelf&#34;) { <mark>shelf</mark> } }", "shelf stands in its queries"}},
		{"no query", plan.Decision{Rung: plan.RungSchema}, proofs.Subject{Verdict: proofs.Proven,
			Schemas: []string{"/product-1.yml"}}, []string{"no query is known"}},
		{"reads", plan.Decision{Rung: plan.RungState}, proofs.Subject{Verdict: proofs.Proven, Reads: []string{"lib/a.py"}},
			[]string{"lib/a.py", "docs/changed.md"}},
		{"state", plan.Decision{Rung: plan.RungState, Evidence: state}, proven,
			[]string{"worked out as a whole on both sides", "sha256:one"}},
		{"traces", plan.Decision{Rung: plan.RungState, Evidence: plan.Evidence{Traces: []plan.TraceProof{{Requests: 7}}}},
			proven, []string{"everything that they asked then", "7 requests"}},
		{"result", plan.Decision{Rung: plan.RungResult}, proven, []string{"passed before with exactly the inputs"}},
		{"believed", plan.Decision{Rung: plan.RungSchema}, proofs.Subject{Verdict: proofs.Believed},
			[]string{"1 believed", "is believed: no run"}},
		{"another order", plan.Decision{Rung: plan.RungState, Evidence: state},
			proofs.Subject{Verdict: proofs.Believed, Assumed: []plan.Assumption{plan.AssumedOrder}},
			[]string{"1 believed", "order of lists makes no difference"}},
		{"unrecorded", plan.Decision{Rung: plan.RungState, Evidence: state},
			proofs.Subject{Verdict: proofs.Believed, Assumed: []plan.Assumption{plan.AssumedReads, plan.AssumedEnvironment}},
			[]string{"no run of it was recorded", "the declared environment"}},
		{"refuted", plan.Decision{Rung: plan.RungFields}, proofs.Subject{Verdict: proofs.Refuted, Why: "it must run"},
			[]string{"does not agree with the plan: it must run.", "do not trust this plan", " open>"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := page(t, skipAt(tt.decision, tt.subject))
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not on the page", want)
				}
			}
			if strings.Contains(got, "/metadata-1.yml") {
				t.Error("a file that differs in metadata alone is shown")
			}
		})
	}
	refuted := page(t, skipAt(tests[len(tests)-1].decision, tests[len(tests)-1].subject))
	if strings.Contains(refuted, "no changed field") {
		t.Error("a refuted decision rules something out")
	}
}

// An integration that the replay says nothing about is not shown as proven.
func TestUnknownIsNotProven(t *testing.T) {
	in := skipAt(plan.Decision{Rung: plan.RungFields}, proofs.Subject{})
	in.Subjects = nil
	got := page(t, in)
	if strings.Contains(got, ">proven<") || strings.Contains(got, "no changed field") ||
		!strings.Contains(got, "The replay does not agree") {
		t.Error("a skip without a verdict is not shown as refuted")
	}
}

// What is refuted and has no decision is on the page too.
func TestRefutedWithoutDecision(t *testing.T) {
	in := skipAt(plan.Decision{Rung: plan.RungFields}, proofs.Subject{Verdict: proofs.Proven})
	in.Subjects["stock"] = proofs.Subject{Verdict: proofs.Refuted, Why: "the plan says nothing about it"}
	got := page(t, in)
	for _, want := range []string{"1 proven, 0 believed, 1 refuted", "<strong>stock</strong>",
		"does not agree with the plan: the plan says nothing about it."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

func TestHostileText(t *testing.T) {
	const evil = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e"
	in := skipAt(plan.Decision{Rung: plan.RungFields, Reason: evil, Evidence: plan.Evidence{
		Fields: []string{evil}, Paths: []string{evil}, Keys: []string{evil},
		Queries: []plan.QueryDifference{{Name: evil, SHA256: evil, Fields: []string{evil}}},
	}}, proofs.Subject{Verdict: proofs.Refuted, Why: evil, Schemas: []string{evil},
		Queries: []proofs.Query{{Name: evil, Text: evil}}, Reads: []string{evil}})
	in.Plan.Base.Ref, in.Plan.Config = evil, evil
	in.Plan.Changes.Datafiles = append(in.Plan.Changes.Datafiles,
		plan.Datafile{Path: evil, Schema: evil, Fields: []string{evil}})
	got := page(t, in)
	for _, bad := range []string{"<img", "\x1b", "\u202e", "</script>"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

// The page stays small, however many files change.
func TestBounded(t *testing.T) {
	in := skipAt(plan.Decision{Rung: plan.RungFields}, proofs.Subject{Verdict: proofs.Proven})
	for i := range 50_000 {
		in.Plan.Changes.Datafiles = append(in.Plan.Changes.Datafiles, plan.Datafile{
			Path: fmt.Sprintf("/file-%d.yml", i), Schema: fmt.Sprintf("/schema-%d.yml", i%1000), Kind: plan.Modified,
			Fields: []string{fmt.Sprintf("/field-%d", i)},
		})
	}
	got := page(t, in)
	if len(got) > 1<<20 {
		t.Errorf("the page has %d bytes", len(got))
	}
	if !strings.Contains(got, "and 703 more schemas") || !strings.Contains(got, "and 45 more") {
		t.Error("what is left out is not counted")
	}
}
