package planner_test

import "github.com/app-sre/prcheck/plan"

// evidenceMutants are plans that decide right and show facts that are wrong.
func evidenceMutants() []mutant {
	evidence := func(f func(e *plan.Evidence)) func(p *plan.Plan) {
		return func(p *plan.Plan) { f(&decision(p).Evidence) }
	}
	names := asks("", "names.graphql")
	return []mutant{
		{name: "evidence: another definition", settings: names, change: email,
			edit:  evidence(func(e *plan.Evidence) { e.Definition = []string{"/other.yml"} }),
			words: "its evidence says that it is defined in /other.yml"},
		{name: "evidence: fewer schemas", settings: names, change: email,
			edit: evidence(func(e *plan.Evidence) { e.Allowed += 7 }), words: "which is not what its definition says"},
		{name: "evidence: a file that is the same", settings: names, change: email,
			edit:  evidence(func(e *plan.Evidence) { e.Paths = append(e.Paths, "/unchanged.yml") }),
			words: `"/unchanged.yml" changed`},
		{name: "evidence: another text of a query", settings: names, change: email,
			edit: evidence(func(e *plan.Evidence) { e.Queries[0].SHA256 = "0" }), words: "another text of the query"},
		{name: "evidence: another query", settings: names, change: email,
			edit: evidence(func(e *plan.Evidence) { e.Queries[0].Name = "other.graphql" }), words: "do not declare for it"},
		{name: "evidence: one desired state of two", settings: asks("", "emails.graphql"), change: email,
			edit:  evidence(func(e *plan.Evidence) { e.State.Head = e.State.Base }),
			words: "its evidence says that its desired states are the same"},
	}
}
