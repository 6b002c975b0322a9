package planner_test

import (
	"context"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// traced makes a trace of requests, each for a side and with the answer that a world gives.
func traced(label string, then *side, requests ...trace.RecordedRequest) *trace.Trace {
	b, err := then.parse(nil)
	if err != nil {
		panic(err)
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		panic(err)
	}
	t := &trace.Trace{TaskKey: trace.TaskKey{Integration: "it", Shard: label}, Digest: "sha256:" + label, Base: "then",
		Head: "then"}
	for _, r := range requests {
		asks, err := r.GraphQL()
		if err != nil {
			panic(err)
		}
		res := gql.New(b, schema).Answer(context.Background(), asks)
		r.Answer = trace.Answer(res.Status, res.JSON())
		t.Requests = append(t.Requests, r)
	}
	return t
}

// remembers gives traces by label.
func remembers(broken string, traces ...*trace.Trace) func(*planner.Input) {
	return func(in *planner.Input) {
		m := storedTraces{traces: map[string][]*trace.Trace{}, broken: broken}
		for _, t := range traces {
			m.traces[t.Shard] = append(m.traces[t.Shard], t)
		}
		in.Traces = m
	}
}

func asked(query string, sides ...trace.Side) []trace.RecordedRequest {
	var out []trace.RecordedRequest
	for _, s := range sides {
		out = append(out, trace.RecordedRequest{Side: s, Query: query})
	}
	return out
}

func traceMutants() []mutant {
	now := func(change func(base, head *side), query string, sides ...trace.Side) *trace.Trace { // as head answers
		base, head := world(), world()
		change(base, head)
		return traced("", head, asked(query, sides...)...)
	}
	before := func(label, query string, sides ...trace.Side) *trace.Trace {
		return traced(label, world(), asked(query, sides...)...)
	}
	proves := remembers("", before("", names, trace.Head))
	nothing := before("", names, trace.Head)
	nothing.Unprovable = "it asked for /diff"
	const mayRead = inFull + "it may read"
	const none = exec + "integrations: {it: {trace: none}}\n"
	const staticIgnored = exec + "integrations: {it: {trace: static, list_order: ignored}}\n"
	baseEmail := func(base, _ *side) { set("/users/ana.yml", "email", "older")(base) }
	altered := func(p *plan.Plan) { decision(p).Evidence.Traces[0].Digest = "sha256:another" }
	oneOfTwo := func(l string) func(*planner.Input) {
		return remembers("", before("one", names, trace.Head), before("two", l, trace.Head))
	}
	filtered := func(f string) trace.RecordedRequest {
		return trace.RecordedRequest{Side: trace.Head, Query: "query($f: JSON) { users(filter: $f) { name } }",
			Variables: []byte(`{"f": {` + f + `}}`)}
	}
	// The same conditions in two orders: where nobody has roles, the second one is no error.
	named, last := filtered(`"name": "none", "roles": {"filter": {"nope": 1}}`),
		filtered(`"roles": {"filter": {"nope": 1}}, "name": "none"`)
	noRoles := onHead(func(s *side) {
		for _, name := range []string{"ana", "bob"} {
			delete(s.at("/users/"+name+".yml"), "roles")
		}
	})
	return []mutant{
		{name: "trace: conditions in another order", settings: static, change: noRoles,
			given:  remembers("", traced("", world(), named, last)),
			forget: remembers("", traced("", world(), named)), words: "planned to be skipped"},
		{name: "trace: another answer of head", settings: whole, change: email,
			given: remembers("", before("", emails, trace.Head)), forget: proves, words: mayRead},
		{name: "trace: the second request", settings: whole, change: email,
			given:  remembers("", traced("", world(), append(asked(names, trace.Head), asked(emails, trace.Head)...)...)),
			forget: proves, words: mayRead},
		{name: "trace: another answer of base", settings: whole, change: baseEmail,
			given: remembers("", now(email, emails, trace.Base)), forget: proves, words: mayRead},
		{name: "trace: base of either side", settings: whole, change: baseEmail,
			given: remembers("", before("", emails, trace.Either)), forget: proves, words: mayRead},
		{name: "trace: head of either side", settings: whole, change: email,
			given: remembers("", before("", emails, trace.Either)), forget: proves, words: mayRead},
		{name: "trace: unprovable", settings: whole, change: email, given: remembers("", nothing), forget: proves,
			words: mayRead},
		{name: "trace: nothing asked", settings: whole, change: email, given: remembers("", before("", names)),
			forget: proves, words: mayRead},
		{name: "trace: none is there", settings: whole, change: email, given: remembers(""), forget: proves, words: mayRead},
		{name: "trace: no state", settings: whole, change: email, forget: proves, words: mayRead},
		{name: "trace: none", settings: none, change: email, given: proves, rules: whole, words: mayRead},
		{name: "trace: a rejected request", settings: whole, change: noNames,
			given: remembers("", before("", names, trace.Head)), hide: unchanged, forget: func(in *planner.Input) {},
			words: inFull},
		{name: "trace: its definition changed", settings: whole, change: onHead(checkSays("cmd", "other")), given: proves,
			hide: then(unchanged, email), words: "(pr_check)"},
		{name: "trace: always_run", settings: whole, change: then(always(checkSays("always_run", true)), email),
			given: proves, hide: always(checkSays("always_run", false)), words: "always_run"},
		{name: "trace: a paths rule", settings: whole + "paths: {select: [{when: ['data/users/**'], run: [it]}]}\n",
			change: email, given: proves, rules: whole, words: "a paths rule"},
		{name: "trace: a command that is not known", settings: "version: 1\nexec: {argv: [run, '{cmd}', '{env.IID}']}\n",
			change: email, given: proves, rules: exec, words: mayRead},
		{name: "trace: its queries are declared", settings: asks("", "emails.graphql"), change: email, given: proves,
			rules: whole, words: leftOut},
		{name: "trace: static, and the answers differ", settings: static, change: email,
			given: remembers("", before("", emails, trace.Head)), forget: proves, words: leftOut},
		{name: "trace: static, and one of two answers differs", settings: static, change: email,
			given:  remembers("", traced("", world(), append(asked(names, trace.Head), asked(emails, trace.Head)...)...)),
			forget: proves, words: leftOut},
		{name: "trace: static, and the promise is broken", settings: static, change: email,
			given: remembers("it asked more", before("", names, trace.Head)), forget: proves, words: mayRead},
		{name: "trace: static, and the order counts", settings: static,
			change: onHead(set("/roles/dev.yml", "tags", list{"y", "x"})),
			given:  remembers("", before("", "{ roles { tags } }", trace.Head)), rules: staticIgnored, words: leftOut},
		{name: "trace: exact, though both sides answer alike", settings: whole,
			change: then(always(set("/users/bob.yml", "name", "rob")), email),
			given:  remembers("", before("", names, trace.Head)), rules: static, words: mayRead},
		{name: "trace: of one of two shards", settings: perAccount, change: both(accounts, email), given: oneOfTwo(emails),
			forget: oneOfTwo(names), words: inFull},
		{name: "trace: of another shard", settings: perAccount, change: both(accounts, email),
			given: remembers("", before("one", names, trace.Head)), forget: oneOfTwo(names), words: inFull},
		{name: "trace: of one of two static shards", settings: numbered(asDeployed),
			change: both(clusters(override("two", subshards(2))), email),
			given:  remembers("", before("one", names, trace.Head), before("two{1/2}", names, trace.Head)),
			forget: remembers("", before("one", names, trace.Head), before("two", names, trace.Head)), words: inFull},
		{name: "trace: evidence of another trace", settings: whole, change: email, given: proves, edit: altered,
			words: `its evidence names the trace "sha256:another"`},
		{name: "trace: evidence for a shard", settings: perAccount, change: both(accounts, email), given: oneOfTwo(emails),
			edit: altered, words: "its evidence names the trace"},
		{name: "trace: evidence where no trace counts", settings: asks("", "names.graphql"), change: email, given: proves,
			edit:  func(p *plan.Plan) { decision(p).Evidence.Traces = []plan.TraceProof{{Digest: "sha256:", Requests: 1}} },
			words: "no trace counts for it"},
		{name: "trace: another reason", settings: whole, change: email, given: proves, edit: func(p *plan.Plan) {
			decision(p).Code = plan.CodeOnlyMetadata
		}, words: "skipped for the reason"},
	}
}

// everyResult says that every task passed, whatever its inputs are.
type everyResult struct{}

func (everyResult) Passed(context.Context, plan.Task, time.Duration) (time.Time, bool) {
	return noon, true
}

func (everyResult) LastEffects(context.Context, plan.Task, time.Duration, string) (*plan.Effects, time.Time) {
	return &plan.Effects{}, noon
}

func (everyResult) Effects(context.Context, plan.Task, time.Time, string) (*plan.Effects, bool) {
	return &plan.Effects{}, true
}

// passedOver remembers that the tasks of a change passed.
func passedOver(rules string, change func(base, head *side)) func(*planner.Input) {
	return func(in *planner.Input) {
		base, head := world(), world()
		addRest(base)
		addRest(head)
		change(base, head)
		then := *in
		b, err := base.parse(nil)
		if err != nil {
			panic(err)
		}
		if then.Head, err = head.parse(nil); err != nil {
			panic(err)
		}
		if then.Settings, err = settings.Read("prcheck.yaml", []byte(rules)); err != nil {
			panic(err)
		}
		then.Base, then.Results = b, results{}
		p, err := planner.Make(context.Background(), then)
		if err != nil {
			panic(err)
		}
		in.Results = passing(p)
	}
}

func resultMutants() []mutant {
	every := func(in *planner.Input) { in.Results = everyResult{} }
	fresh := func(in *planner.Input) { in.Results = results{} }
	bigger := func(role string) func(*side) { return set("/groups/"+role+".yml", "size", 7) }
	roles, dev := asks("", "roles.graphql"), onHead(bigger("dev"))
	const differs = "its desired state differs"
	const again = exec + "integrations: {it: {}}\n"
	moved := func(name, settings string, what func(*side), words string) mutant { // since it passed
		return mutant{name: "result: " + name, settings: settings, change: then(always(what), dev),
			given: passedOver(settings, dev), forget: every, words: words}
	}
	ref := func(names ...string) (out list) {
		for _, n := range names {
			out = append(out, object{"$ref": "/groups/" + n + ".yml"})
		}
		return out
	}
	groups := func(a, b list) func(*side) {
		return func(s *side) {
			s.data["/roles/p.yml"] = object{"$schema": "/role-1.yml", "name": "same", "groups": a}
			s.data["/roles/q.yml"] = object{"$schema": "/role-1.yml", "name": "same", "groups": b}
			for _, g := range []string{"a", "b", "c"} {
				s.data["/groups/"+g+".yml"] = object{"$schema": "/group-1.yml", "name": "g", "account": "k" + g, "size": 1}
			}
			set("/roles/dev.yml", "groups", list{})(s)
			set("/roles/ops.yml", "groups", list{})(s)
		}
	}
	ordered := strings.Replace(byAccount(""), "shards:", "list_order: significant, shards:", 1)
	passed := passedOver(roles, dev)
	effects := "effects: {use: [terraform]}\n"
	effects = strings.Replace(roles, "exec:", effects+"exec:", 1)
	return []mutant{
		{name: "result: it never passed", settings: roles, change: dev, given: fresh, forget: every, words: differs},
		{name: "result: nothing is remembered", settings: roles, change: dev, forget: every, words: differs},
		moved("its state on base moved", roles, bigger("ops"), differs),
		{name: "result: head differs in another way", settings: roles, change: then(dev, onHead(bigger("ops"))),
			given: passed, forget: every, words: differs},
		moved("a JSON schema moved", roles, func(s *side) { s.schemas["/user-1.yml"] = object{"version": 2} }, differs),
		moved("a type moved", roles, func(s *side) {
			s.types[1]["fields"] = append(s.types[1]["fields"].([]object), field("more", "string", nil))
		}, differs),
		moved("its definition moved", roles, set("/it.yml", "description", "z"), differs),
		moved("a file of its paths rule moved", roles+"paths: {select: [{when: ['data/others/*'], run: [it]}]}\n",
			set("/others/else.yml", "name", "x"), differs),
		moved("nothing tells its state, and anything moved", again, set("/others/else.yml", "name", "x"), inFull),
		moved("what all shards see moved", byAccount(""),
			set0("/roles/none.yml", object{"$schema": "/role-1.yml", "name": "none"}), differs),
		moved("an order of which every shard is a part", ordered, bigger("ops"), differs),
		{name: "result: shards stand together otherwise", settings: byAccount(""),
			change: both(groups(ref("a", "b"), ref("c")), onHead(bigger("a"))),
			given:  passedOver(byAccount(""), both(groups(ref("a"), ref("b", "c")), onHead(bigger("a")))), forget: every,
			words: differs},
		{name: "result: a shard that never passed", settings: byAccount(""), change: then(dev, onHead(bigger("ops"))),
			given: passedOver(byAccount(""), dev), forget: every, words: differs},
		{name: "result: always_run", settings: roles, change: then(always(checkSays("always_run", true)), dev), given: every,
			hide: always(checkSays("always_run", false)), words: "always_run"},
		{name: "result: edited rules", settings: roles, change: dev, given: func(in *planner.Input) {
			every(in)
			in.Edits = edits("x")
		}, forget: func(in *planner.Input) { in.Edits = edits() }, words: "head edits a rule or a file"},
		{name: "result: reuse: none", settings: exec + "integrations: {it: {reuse: none}}\n", change: email, given: every,
			rules: again, words: inFull},
		{name: "result: a command that is not known", settings: "version: 1\nexec: {argv: [run, '{env.IID}']}\n",
			change: email, given: every, rules: exec, words: inFull},
		{name: "result: a task that cannot be started", settings: "version: 1\nintegrations: {it: {}}\n", change: email,
			given: every, rules: again, words: inFull},
		{name: "result: a native integration", settings: exec, change: resize, given: func(in *planner.Input) {
			every(in)
			in.Natives = []integration.DryRunner{native("it")}
		}, forget: func(in *planner.Input) { in.Natives = nil }, words: inFull},
		{name: "result: effects that are not remembered", settings: effects, change: dev, given: passedOver(effects, dev),
			forget: every, words: differs},
		{name: "result: evidence with other effects", settings: effects, change: dev, given: func(in *planner.Input) {
			passedOver(effects, dev)(in)
			in.Results = announced{in.Results.(results), in.Settings.For("it").EffectsDigest(), map[string]*plan.Effects{"": {}}}
		}, edit: func(p *plan.Plan) {
			decision(p).Evidence.Passed[0].Effects = &plan.Effects{Items: []plan.Effect{{Kind: plan.EffectDelete, Subject: "x"}}}
		}, words: "names other effects"},
		{name: "result: evidence with other inputs", settings: roles, change: dev, given: passed, edit: func(p *plan.Plan) {
			decision(p).Evidence.Passed[0].Inputs = "sha256:0"
		}, words: "names a result of \"it\" with other inputs"},
		{name: "result: evidence of another shard", settings: byAccount(""), change: dev,
			given: passedOver(byAccount(""), dev), edit: func(p *plan.Plan) { decision(p).Evidence.Passed[0].Shard = "two" },
			words: "with other inputs"},
		{name: "result: a task with other inputs", settings: roles, change: dev, given: fresh, edit: func(p *plan.Plan) {
			p.Tasks[0].Inputs = "sha256:0"
		}, words: "has inputs that are not those of what it sees"},
		{name: "result: a shard with the inputs of another one", settings: byAccount(""),
			change: then(dev, onHead(bigger("ops"))), given: fresh,
			edit: func(p *plan.Plan) {
				p.Tasks[0].Inputs = p.Tasks[1].Inputs
			}, words: "has inputs that are not those of what it sees"},
	}
}

// planMutants forge plans.
func planMutants() []mutant {
	noTasks := func(p *plan.Plan) { p.Tasks, decision(p).Tasks = nil, nil }
	forge := func(rung plan.Rung, code plan.Code) func(p *plan.Plan) {
		return func(p *plan.Plan) { noTasks(p); *decision(p) = skipBy(rung, code) }
	}
	const started = `its task "it" is not started as the settings and its definition say`
	task := func(f func(t *plan.Task)) func(p *plan.Plan) { return func(p *plan.Plan) { f(&p.Tasks[0]) } }
	return []mutant{
		{name: "forged: same bundle", settings: exec, change: email, edit: forge(plan.RungSchema, plan.CodeSameBundle),
			words: inFull},
		{name: "forged: only metadata", settings: exec, change: elsewhere, edit: func(p *plan.Plan) {
			*decision(p) = skipBy(plan.RungSchema, plan.CodeOnlyMetadata)
		}, words: "planned as proven, but the skip is only believed"},
		{name: "forged: only metadata, with queries", settings: asks("", "names.graphql"), change: elsewhere,
			edit: func(p *plan.Plan) { decision(p).Code = plan.CodeOnlyMetadata }, words: "skipped for the reason"},
		{name: "forged: same state", settings: exec, change: email, edit: forge(plan.RungState, plan.CodeSameState),
			words: inFull},
		{name: "forged: same state of what is believed", settings: exec, change: elsewhere, edit: func(p *plan.Plan) {
			*decision(p) = skipBy(plan.RungState, plan.CodeSameState)
		}, words: "planned as proven, but the skip is only believed"},
		{name: "forged: same state, though it differs", settings: asks("", "emails.graphql"), change: email,
			edit: forge(plan.RungState, plan.CodeSameState), words: inFull + "its desired state differs"},
		{name: "forged: passed before", settings: exec, change: email, edit: forge(plan.RungResult, plan.CodePassedBefore),
			words: inFull},
		{name: "forged: same answers", settings: exec, change: email, edit: forge(plan.RungState, plan.CodeSameAnswers),
			words: inFull},
		{name: "forged: believed", settings: exec, change: email, edit: func(p *plan.Plan) {
			forge(plan.RungSchema, plan.CodeNoAllowedFile)(p)
			decision(p).Believed = true
		}, words: inFull},
		{name: "forged: no decision", settings: exec, change: email, edit: func(p *plan.Plan) {
			noTasks(p)
			p.Integrations = p.Integrations[1:]
		}, words: "the plan says nothing about it"},
		{name: "forged: another command", settings: exec, change: email,
			edit: task(func(t *plan.Task) { t.Argv = []string{"true"} }), words: started},
		{name: "forged: another digest of the command", settings: exec, change: email,
			edit: task(func(t *plan.Task) { t.Command = "sha256:0" }), words: started},
		{name: "forged: blocked", settings: exec, change: email, edit: task(func(t *plan.Task) { t.Blocked = "not today" }),
			words: started},
		{name: "forged: native", settings: exec, change: email, edit: task(func(t *plan.Task) {
			t.Native, t.Argv = true,
				[]string{}
		}), words: started},
		{name: "forged: a shard for the whole", settings: byAccount(""), change: noShard, edit: func(p *plan.Plan) {
			t := &p.Tasks[0]
			t.Shard, t.ID, decision(p).Tasks[0], t.Argv = "one", "it/one", "it/one", []string{"run", "it", "--account", "one"}
			decision(p).Decision = plan.Shards
		}, words: "its task \"it/one\" is not started as"},
	}
}

// noShard changes something that belongs to no shard.
func noShard(_, head *side) {
	head.data["/roles/none.yml"] = object{"$schema": "/role-1.yml", "name": "none"}
}
