package planner_test

import (
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/state/dependence"
)

const inFull = "must run in full: "

func definitionMutants() []mutant {
	drop := func(s *side) { remove(s.data, "/it.yml") }
	noCheck := unset("/it.yml", "pr_check")
	disabled := checkSays("disabled", true)
	return []mutant{
		{name: "a definition that only head has", settings: exec, change: func(base, _ *side) { drop(base) },
			hide: always(set0("/it.yml", definition("it", nil))), words: inFull + "it is new"},
		{name: "a pr_check that only head has", settings: exec, change: func(base, _ *side) { noCheck(base) },
			hide: onHead(noCheck), words: inFull + "it is new: only head gives it a pr_check"},
		{name: "a pr_check that head changes", settings: exec, change: onHead(checkSays("cmd", "other")), hide: unchanged,
			words: inFull + "its own definition changed (pr_check)"},
		{name: "a pr_check that head disables", settings: exec, change: then(onHead(disabled), rename),
			hide: always(disabled), words: "(pr_check)"},
		{name: "a pr_check that head enables", settings: exec, change: func(base, _ *side) { disabled(base) },
			hide: always(disabled), words: "(pr_check)"},
		{name: "a pr_check that head removes", settings: exec, change: onHead(noCheck), hide: always(noCheck),
			words: "(pr_check)"},
		{name: "schemas that head changes", settings: exec, change: onHead(set("/it.yml", "schemas", list{"/user-1.yml"})),
			hide: unchanged, words: "(schemas)"},
		{name: "the order of schemas", settings: exec,
			change: onHead(set("/it.yml", "schemas", list{"/group-1.yml", "/role-1.yml", "/user-1.yml"})), hide: unchanged,
			words: "(schemas)"},
		{name: "managed that head changes", settings: exec, change: onHead(set("/it.yml", "managed", list{})),
			hide: unchanged, words: "(managed)"},
		{name: "a definition that head moves and changes", settings: exec, change: onHead(func(s *side) {
			checkSays("cmd", "other")(s)
			s.data["/moved.yml"] = s.data["/it.yml"]
			drop(s)
		}), hide: unchanged, words: "(pr_check)"},
		{name: "rules that head edits", settings: exec, given: func(in *planner.Input) {
			in.Edits = edits("exec in prcheck.yaml")
		},
			forget: func(in *planner.Input) { in.Edits = edits() }, words: inFull + "head edits a rule or a file that it uses"},
		{name: "rules that head edits, with a state that is the same", settings: asks("", "names.graphql"), change: email,
			given:  func(in *planner.Input) { in.Edits = edits("queries/names.graphql") },
			forget: func(in *planner.Input) { in.Edits = edits() }, words: inFull + "head edits a rule or a file that it uses"},
		{name: "always_run", settings: exec, change: then(always(checkSays("always_run", true)), elsewhere),
			hide: always(checkSays("always_run", false)), words: inFull + "its pr_check says always_run"},
		{name: "always_run that is no boolean", settings: exec, change: then(always(checkSays("always_run", "no")),
			elsewhere),
			hide: always(checkSays("always_run", false)), words: "always_run"},
		{name: "always_run before queries", settings: asks("", "names.graphql"),
			change: then(always(checkSays("always_run", true)), email),
			hide:   always(checkSays("always_run", false)), words: "always_run"},
		{name: "a skip because of a definition that is not gone", settings: exec, change: elsewhere,
			edit: func(p *plan.Plan) {
				*decision(p) = skipBy(plan.RungDefinition, plan.CodeRemoved)
			}, words: `planned as proven, but the skip is only believed`},
		{name: "a skip because of a pr_check that is not disabled", settings: exec + strict, change: elsewhere,
			edit: func(p *plan.Plan) {
				*decision(p) = skipBy(plan.RungDefinition, plan.CodeDisabled)
			}, words: `skipped for the reason "disabled"`},
	}
}

// strict are settings of "it" by which the schemas are enforced for all that it depends on.
const strict = "integrations: {it: {schemas: strict}}\n"

func set0(path string, file object) func(s *side) { return func(s *side) { s.data[path] = file } }

func skipBy(rung plan.Rung, code plan.Code) plan.Decision {
	return plan.Decision{Name: "it", Decision: plan.Skip, Rung: rung, Code: code, Reason: "trust me",
		Evidence: plan.Evidence{Definition: []string{"/it.yml"}}}
}

func schemaMutants() []mutant {
	lone := onHead(content("/lone.txt"))
	users := set("/users/bob.yml", "$schema", "/other-1.yml")
	mayRead := inFull + "it may read "
	noResource := inFull + "resource "
	ofIt := func(more string) string { return exec + "integrations: {it: {" + more + "}}\n" }
	jsonField := always(func(s *side) {
		s.types[3]["fields"] = append(s.types[3]["fields"].([]object), field("raw", "json", nil))
		set("/groups/dev.yml", "raw", object{"__identifier": "one"})(s)
	})
	return []mutant{
		{name: "a datafile that differs", settings: exec, change: email, hide: unchanged, words: mayRead},
		{name: "a datafile that is added", settings: exec,
			change: onHead(set0("/users/new.yml", object{"$schema": "/user-1.yml", "name": "new"})), hide: unchanged,
			words: mayRead},
		{name: "a datafile that is removed", settings: exec, change: onHead(func(s *side) {
			remove(s.data, "/users/bob.yml")
		}), hide: unchanged, words: mayRead},
		{name: "the old schema of a datafile", settings: exec, change: onHead(users), hide: func(base, _ *side) {
			users(base)
		}, words: mayRead},
		{name: "the new schema of a datafile", settings: exec, change: func(base, _ *side) {
			users(base)
		}, hide: onHead(users), words: mayRead},
		{name: "the order of a list in a datafile", settings: exec,
			change: onHead(set("/roles/dev.yml", "tags", list{"y", "x"})), hide: unchanged, words: mayRead},
		{name: "a number that is written otherwise", settings: exec, change: onHead(set("/groups/dev.yml", "size", 1.5)),
			hide: unchanged, words: mayRead},
		{name: "null in the place of nothing", settings: exec, change: onHead(set("/groups/dev.yml", "more", nil)),
			hide: unchanged, words: mayRead},
		{name: "__identifier in a field that is read as a whole", settings: exec,
			change: then(jsonField, onHead(set("/groups/dev.yml", "raw", object{"__identifier": "two"}))),
			hide:   unchangedFiles("/groups/dev.yml"), words: mayRead},
		{name: "__identifier beside an empty $ref", settings: exec,
			change: then(always(set("/groups/dev.yml", "of", object{"$ref": nil, "__identifier": "one"})),
				onHead(set("/groups/dev.yml", "of", object{"$ref": nil, "__identifier": "two"}))),
			hide: unchangedFiles("/groups/dev.yml"), words: mayRead},
		{name: "$file_sha256sum inside of a datafile", settings: exec,
			change: then(always(set("/groups/dev.yml", "in", object{"$file_sha256sum": "0"})),
				onHead(set("/groups/dev.yml", "in", object{"$file_sha256sum": "1"}))),
			hide: unchangedFiles("/groups/dev.yml"), words: mayRead},

		{name: "a resource that nobody mentions", settings: exec, change: lone, hide: unchanged,
			words: noResource + "/lone.txt"},
		{name: "a resource that is added", settings: exec, change: onHead(func(s *side) {
			s.resources["/new.txt"] = resource("/new.txt", "x", nil)
		}), hide: unchanged, words: noResource},
		{name: "a resource that is removed", settings: exec, change: onHead(func(s *side) {
			remove(s.resources, "/lone.txt")
		}), hide: unchanged, words: noResource},
		{name: "a resource that is mentioned elsewhere", settings: exec,
			change: then(always(set("/others/else.yml", "text", "/lone.txt")), lone),
			hide:   unchangedFiles("/lone.txt"), words: noResource},
		{name: "a resource with a $schema", settings: exec, change: onHead(content("/own.yml")), hide: unchanged,
			words: noResource},
		{name: "a resource of a paths rule for another",
			settings: exec + "paths: {select: [{when: ['resources/lone.txt'], run: [rest]}]}\n", change: lone,
			hide: unchanged, words: noResource},
		{name: "a resource that its patterns allow", settings: ofIt("resources: ['resources/l*']"), change: lone,
			rules: ofIt("resources: none"), words: noResource},
		{name: "the $schema of a resource that it may read", settings: ofIt("resources: none"),
			change: then(always(set("/it.yml", "schemas", list{"/res-1.yml"})), onHead(content("/own.yml"))),
			hide:   unchangedFiles("/own.yml"), words: mayRead + "/own.yml"},
		{name: "a datafile that mentions an ignored resource", settings: exec + "paths: {ignore: ['resources/t.txt']}\n",
			change: onHead(content("/t.txt")),
			hide: always(func(s *side) {
				set("/groups/dev.yml", "template", "")(s)
				set("/groups/ops.yml", "template", "")(s)
			}), words: mayRead + "/t.txt"},
		{name: "a datafile of base that mentions a resource", settings: ofIt("resources: none"),
			change: then(func(base, _ *side) { set("/roles/dev.yml", "anything", list{object{"x": "/lone.txt"}})(base) }, lone,
				func(base, head *side) {
					set("/roles/dev.yml", "$schema", "/other-1.yml")(head)
					set("/roles/dev.yml", "$schema", "/other-1.yml")(base)
					set("/others/else.yml", "$schema", "/user-1.yml")(base)
					set("/others/else.yml", "$schema", "/user-1.yml")(head)
					set("/others/else.yml", "in", list{"/lone.txt"})(base)
					set("/others/else.yml", "in", list{"/lone.txt"})(head)
				}), hide: always(set("/others/else.yml", "in", nil)), words: mayRead + "/lone.txt"},
		{name: "a path without a slash", settings: ofIt("resources: none"),
			change: then(always(set0("odd.yml", object{"$schema": "/other-1.yml"})), lone),
			hide:   always(func(s *side) { remove(s.data, "odd.yml") }), words: noResource},
		{name: "paths.ignore over a datafile", settings: exec + "paths: {ignore: ['**']}\n", change: email, hide: unchanged,
			words: mayRead},
		{name: "a paths rule", settings: exec + "paths: {select: [{when: ['data/others/**'], run: [it]}]}\n",
			change: elsewhere, rules: exec, words: inFull + "a paths rule names it"},
		{name: "a paths rule before queries",
			settings: asks("", "names.graphql") + "paths: {select: [{when: ['data/users/*'], run: [it]}]}\n", change: email,
			rules: asks("", "names.graphql"), words: inFull + "a paths rule names it"},
		{name: "a paths rule over an ignored resource",
			settings: exec + "paths: {ignore: ['resources/**'], select: [{when: ['resources/lone.txt'], run: [it]}]}\n",
			change:   lone,
			rules:    exec + "paths: {ignore: ['resources/**']}\n", words: "a paths rule names it"},

		{name: "a JSON schema", settings: exec, change: onHead(func(s *side) {
			s.schemas["/user-1.yml"] = object{"version": 2}
		}), hide: unchanged, words: inFull + "/user-1.yml changed"},
		{name: "a JSON schema that is added", settings: exec, change: onHead(func(s *side) {
			s.schemas["/x.yml"] = object{}
		}), hide: unchanged, words: "/x.yml changed"},
		{name: "a GraphQL type", settings: exec, change: newField, hide: unchanged, words: "GraphQL types changed"},
		{name: "a GraphQL type that is removed", settings: exec, change: func(base, _ *side) {
			base.types = append(base.types, kind("More_v1", "", field("name", "string", nil)))
		},
			hide: func(base, head *side) { base.types = head.types }, words: "GraphQL types changed"},
		{name: "no_validate_schemas", settings: exec, change: then(always(checkSays("no_validate_schemas", true)), elsewhere),
			hide: always(checkSays("no_validate_schemas", false)), words: inFull + "its schemas are not enforced"},
	}
}

// A memory is what the runs of "it" have shown.
type memory struct {
	beyond dependence.Beyond
	passed func(command string) bool // nil: none did
}

func (m memory) Beyond(string) dependence.Beyond { return m.beyond }
func (m memory) Passed(_, command string) bool   { return m.passed != nil && m.passed(command) }

func dependenceMutants() []mutant {
	beyond := func(b dependence.Beyond) func(*planner.Input) {
		return func(in *planner.Input) { in.Dependences = memory{beyond: b} }
	}
	nothing := beyond(dependence.Beyond{})
	backrefs := onHead(func(s *side) {
		s.resources["/lone.txt"] = with(s.resources["/lone.txt"].(object), "backrefs", list{"x"})
	})
	const silent = exec + "integrations: {it: {resources: none}}\n"
	lone := onHead(content("/lone.txt"))
	const depends = inFull + "/others/else.yml changed, and its answers depend on such files"
	const word = "planned as proven, but the skip is only believed"
	everything := func(in *planner.Input) {
		in.Dependences = memory{passed: func(string) bool { return true }}
	}
	oneShard := func(in *planner.Input) {
		t, err := planner.Task(*in, "it", "one")
		if err != nil {
			panic(err)
		}
		in.Dependences = memory{passed: func(command string) bool { return command == t.Command }}
	}
	return []mutant{
		{name: "a schema on which answers depend", settings: exec, change: elsewhere,
			given: beyond(dependence.Beyond{Schemas: []string{"/other-1.yml"}}), forget: nothing, words: depends},
		{name: "a path that leads nowhere", settings: exec,
			change: onHead(set0("/others/new.yml", object{"$schema": "/other-1.yml"})),
			given:  beyond(dependence.Beyond{Missing: []string{"/others/new.yml"}}), forget: nothing,
			words: "/others/new.yml changed, and its answers depend"},
		{name: "a resource that was asked for", settings: silent, change: lone,
			given: beyond(dependence.Beyond{Resources: []string{"/lone.txt"}}), forget: nothing,
			words: "/lone.txt changed, and its answers depend"},
		{name: "an ignored resource that was asked for", settings: exec + "paths: {ignore: ['resources/**']}\n", change: lone,
			given: beyond(dependence.Beyond{Resources: []string{"/lone.txt"}}), forget: nothing, words: "its answers depend"},
		{name: "lists of resources that were asked for", settings: silent, change: lone,
			given: beyond(dependence.Beyond{Lists: true}), forget: nothing, words: "its answers depend"},
		{name: "the schema of a datafile that mentions a resource", settings: silent,
			change: then(always(set("/others/else.yml", "text", "/lone.txt")), lone),
			given:  beyond(dependence.Beyond{Schemas: []string{"/other-1.yml"}}), forget: nothing,
			words: "/lone.txt changed, and its answers depend"},
		{name: "backrefs that were read", settings: exec, change: backrefs, given: beyond(dependence.Beyond{Backrefs: true}),
			forget: nothing, words: "its answers depend"},
		{name: "more than is remembered", settings: exec, change: elsewhere, given: beyond(dependence.Beyond{Anything: true}),
			forget: nothing, words: depends},
		{name: "more than is remembered, for backrefs", settings: exec, change: backrefs,
			given: beyond(dependence.Beyond{Anything: true}), forget: nothing, words: "its answers depend"},

		{name: "a mark that is taken away", settings: exec, change: elsewhere, edit: func(p *plan.Plan) {
			decision(p).Believed = false
		}, words: word},
		{name: "a mark that is taken away where nothing is allowed", settings: exec,
			change: then(always(set("/it.yml", "schemas", list{})), email),
			edit:   func(p *plan.Plan) { decision(p).Believed = false }, words: word},
		{name: "a mark that is taken away where all is ignored", settings: exec + "paths: {ignore: ['resources/**']}\n",
			change: lone,
			edit:   func(p *plan.Plan) { decision(p).Believed = false }, words: word},
		{name: "strict settings that are not there", settings: exec, change: elsewhere, rules: exec + strict, words: word},
		{name: "a run of another command", settings: exec, change: elsewhere, given: func(in *planner.Input) {
			in.Dependences = memory{passed: func(c string) bool { return c == "another" }}
		}, forget: everything, words: word},
		{name: "a run of one of two shards", settings: perAccount, change: both(accounts, elsewhere), given: oneShard,
			forget: everything, words: word},
		{name: "nothing is remembered at all", settings: exec, change: elsewhere, forget: everything, words: word},
		{name: "backrefs alone", settings: exec, change: backrefs, edit: func(p *plan.Plan) { decision(p).Believed = false },
			words: word},
		{name: "a mark at another rung", settings: asks("", "names.graphql"), change: email, edit: func(p *plan.Plan) {
			decision(p).Believed = true
		}, words: "marked as believed at the rung fields"},
	}
}

// earlyMutants let a task end early although something changed that the integration's own
// comparison may not see.
func earlyMutants() []mutant {
	may := always(checkSays("early_exit", true))
	early := func(p *plan.Plan) { p.Tasks[0].When = []string{"early_exit"} }
	partly := func(p *plan.Plan) { p.Tasks[0].When = []string{"check_only_affected_shards"} }
	lone := onHead(content("/lone.txt"))
	always_run := always(checkSays("always_run", true))
	reached := func(in *planner.Input) {
		in.Dependences = memory{beyond: dependence.Beyond{Schemas: []string{"/other-1.yml"}}}
	}
	const words = `its task "it" may end early`
	const rule = adapter + "paths: {select: [{when: ['data/users/**'], run: [it]}]}\n"
	return []mutant{
		{name: "early: its definition changed", settings: adapter, change: then(may, onHead(checkSays("cmd", "new"))),
			edit: early, words: words},
		{name: "early: its rules are edited", settings: adapter, change: then(may, email), given: func(in *planner.Input) {
			in.Edits = edits("x")
		}, edit: early, words: words},
		{name: "early: a paths rule", settings: rule, change: then(may, email), edit: early, words: words},
		{name: "early: a resource", settings: adapter, change: then(may, lone), edit: early, words: words},
		{name: "early: a resource beside a datafile", settings: adapter, change: then(may, email, lone), edit: early,
			words: words},
		{name: "early: shards, with a resource beside a datafile", settings: adapter, change: then(may, email, lone),
			edit: partly, words: words},
		{name: "early: a file that it reached beside a datafile", settings: adapter, change: then(may, email, elsewhere),
			given: reached, edit: early, words: words},
		{name: "early: types beside a datafile", settings: adapter, change: then(may, email, newField), edit: early,
			words: words},
		{name: "early: schemas that are not enforced", settings: adapter,
			change: then(may, always(checkSays("no_validate_schemas", true)), elsewhere), edit: early, words: words},
		{name: "early: its state is known to differ", settings: adapter + "integrations: {it: {queries: [emails.graphql]}}\n",
			change: then(may, email), edit: early, words: words},
		{name: "early: always_run beside a resource", settings: adapter, change: then(may, always_run, lone), edit: early,
			words: words},
		{name: "early: always_run beside a paths rule", settings: rule, change: then(may, always_run, email), edit: early,
			words: words},
		{name: "early: always_run beside a file that it reached", settings: adapter, change: then(may, always_run, elsewhere),
			given: reached, edit: early, words: words},
		{name: "early: always_run beside types", settings: adapter, change: then(may, always_run, newField), edit: early,
			words: words},
		{name: "early: only head defines it", settings: adapter, change: func(base, _ *side) { remove(base.data, "/it.yml") },
			edit: early, words: words},
	}
}
