package planner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/trace"
)

// storedTraces are the traces of shards, whatever the command is.
type storedTraces struct {
	traces map[string][]*trace.Trace
	broken string
	said   []string
}

func (s storedTraces) Load(_ context.Context, of trace.TaskKey) ([]*trace.Trace, []string) {
	return s.traces[of.Shard], s.said
}
func (s storedTraces) Broken(context.Context, string) string { return s.broken }

// recorded is a trace of these queries, from a time before anything changed.
func recorded(t *testing.T, shard string, queries ...string) *trace.Trace {
	t.Helper()
	then := world().bundle(t, nil)
	schema, err := gql.NewSchema(then.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	engine, r := gql.New(then, schema), trace.NewRecorder("then", "then")
	for _, q := range queries {
		req := gql.Request{Query: q}
		res := engine.Answer(context.Background(), req)
		r.Note(trace.Exchange{Path: "/graphql", SHA256: "then", Request: &req, Response: res, Status: res.Status,
			Body: res.JSON()})
	}
	return r.Trace(trace.TaskKey{Integration: "it", Shard: shard}, time.Unix(0, 0))
}

const (
	names  = "{ users { name } }"
	emails = "{ users { email } }"
	whole  = exec + "integrations: {it: {trace: exact}}\n"
	static = exec + "integrations: {it: {trace: static}}\n"
)

// accounts makes the groups accounts, so that a strategy finds them.
func accounts(s *side) {
	for name, key := range map[string]string{"/a/one.yml": "one", "/a/two.yml": "two"} {
		s.data[name] = object{"$schema": "/aws/account-1.yml", "name": key}
	}
}

const perAccount = exec + "integrations: {it: {shards: {strategy: per-aws-account}}}\n"

const managed = exec + "integrations: {it: {shards: {strategy: managed}}}\n"

// deployed makes the definition name strategies.
func deployed(strategies ...string) func(*side) {
	return func(s *side) {
		accounts(s)
		all := list{}
		for _, word := range strategies {
			all = append(all, object{"sharding": object{"strategy": word}})
		}
		s.at("/it.yml")["managed"] = all
	}
}

func TestRecall(t *testing.T) {
	email := func(_, head *side) { head.at("/users/ana.yml")["email"] = "new" }
	tests := []struct {
		name, settings string
		change         func(base, head *side)
		recall         map[string][]string // queries by shard
		broken, want   string
		code           plan.Code
		words          string // in the reason
	}{
		{"the same answers", whole, email, map[string][]string{"": {names}}, "", "skip state", plan.CodeSameAnswers, ""},
		{"another answer", whole, email, map[string][]string{"": {names, emails}}, "", "run schema it",
			plan.CodeAllowedFileChanged, `its trace proves nothing: head answers "{ users { email } }" otherwise`},
		{"no trace", whole, email, nil, "", "run schema it", plan.CodeAllowedFileChanged,
			"no trace of a run that passed is there"},
		{"nothing asked", whole, email, map[string][]string{"": {}}, "", "run schema it", plan.CodeAllowedFileChanged,
			"nothing was asked while it was recorded"},
		{"trace: none", exec + "integrations: {it: {trace: none}}\n", email, map[string][]string{"": {names}}, "",
			"run schema it", plan.CodeAllowedFileChanged, ""},
		{"what nothing selects stays skipped", whole, func(_, head *side) { head.at("/others/else.yml")["name"] = "x" },
			map[string][]string{"": {emails}}, "", "skip schema", plan.CodeNoAllowedFile, ""},
		{"a JSON schema changed", whole, func(_, head *side) { head.schemas["/user-1.yml"] = object{"version": 2} },
			map[string][]string{"": {names}}, "", "skip state", plan.CodeSameAnswers, ""},
		{"a GraphQL type changed", whole, newField, map[string][]string{"": {names}}, "", "skip state", plan.CodeSameAnswers,
			""},
		{"an asked field is gone", whole, noNames, map[string][]string{"": {names}}, "", "run schema it",
			plan.CodeTypesChanged, "head answers"},
		{"its definition changed", whole, func(_, head *side) { head.check()["cmd"] = "x" }, map[string][]string{"": {names}},
			"", "run definition it", plan.CodeDefinitionChanged, ""},
		{"always_run", whole, both(func(s *side) { s.check()["always_run"] = true }, email), map[string][]string{"": {names}},
			"", "run definition it", plan.CodeAlwaysRun, ""},
		{"a paths rule", whole + "paths: {select: [{when: ['data/users/**'], run: [it]}]}\n", email,
			map[string][]string{"": {names}}, "", "run schema it", plan.CodePathsRule, ""},
		{"a command with a value that is not known", "version: 1\nexec: {argv: [run, '{cmd}', '{env.IID}']}\n", email,
			map[string][]string{"": {names}}, "", "run schema it", plan.CodeAllowedFileChanged,
			"its command has the value of IID"},
		{"queries are declared", asks("", "emails.graphql"), email, map[string][]string{"": {names}}, "", "run state it",
			plan.CodeStateDiffers, ""},

		{"static, unchanged", static, both(func(s *side) { s.at("/users/bob.yml")["name"] = "rob" }, email),
			map[string][]string{"": {names}}, "", "skip state", plan.CodeSameQueries, ""},
		{"static, changed", static, email, map[string][]string{"": {emails}}, "", "run state it", plan.CodeStateDiffers, ""},
		{"static, another order", static, func(_, head *side) { head.at("/roles/dev.yml")["tags"] = list{"y", "x"} },
			map[string][]string{"": {"{ roles { tags } }"}}, "", "run state it", plan.CodeStateDiffers, ""},
		{"static, another order that does not count", exec + "integrations: {it: {trace: static, list_order: ignored}}\n",
			func(_, head *side) {
				head.at("/roles/dev.yml")["tags"] = list{"y", "x"}
			}, map[string][]string{"": {"{ roles { tags } }"}}, "", "skip state", plan.CodeSameState, ""},
		{"static, for a shard",
			exec + "integrations: {it: {trace: static, shards: {by: ['roles[*].groups[*].account'], arg: --account}}}\n",
			func(_, head *side) { head.at("/groups/dev.yml")["size"] = 2 },
			map[string][]string{"": {"{ roles { name groups { account size } } }"}}, "", "shards shards it/one",
			plan.CodeShardsDiffer, `differs for shard "one" only`},
		{"static and broken", static, email, map[string][]string{"": {names}}, "it asked more", "run schema it",
			plan.CodeAllowedFileChanged, "it broke its promise to ask always the same (it asked more)"},
		{"exact needs no promise", whole, email, map[string][]string{"": {names}}, "it asked more", "skip state",
			plan.CodeSameAnswers, ""},

		{"shards with traces", perAccount, both(accounts, email), map[string][]string{"one": {names}, "two": {names}}, "",
			"skip state", plan.CodeAllShardsProven, "for each of its 2 shards"},
		{"one shard sees the change", perAccount, both(accounts, email), map[string][]string{"one": {names}, "two": {emails}},
			"", "shards shards it/two", plan.CodeSomeShardsProven, "1 of its 2 shards need not run"},
		{"a shard without a trace", perAccount, both(accounts, email), map[string][]string{"one": {names}}, "",
			"shards shards it/two", plan.CodeSomeShardsProven, "1 of its 2 shards need not run"},
		{"no shard has a trace", perAccount, both(accounts, email), nil, "", "run schema it-wrapper/one it-wrapper/two",
			plan.CodeAllowedFileChanged, "fanned out over its 2 shards"},
		{"a new shard", perAccount, both(accounts, func(base, head *side) {
			email(base, head)
			head.data["/a/three.yml"] = object{"$schema": "/aws/account-1.yml", "name": "three"}
		}), map[string][]string{"one": {names}, "two": {names}}, "", "shards shards it/three", plan.CodeSomeShardsProven,
			"2 of its 3 shards need not run"},
		{"shards as deployed", managed, both(deployed("per-aws-account", "per-aws-account"), email), nil, "",
			"run schema it-wrapper/one it-wrapper/two", plan.CodeAllowedFileChanged, "fanned out over its 2 shards"},
		{"one deployed shard sees the change", managed, both(deployed("per-aws-account"), email),
			map[string][]string{"one": {names}, "two": {emails}}, "", "shards shards it/two", plan.CodeSomeShardsProven,
			"1 of its 2 shards need not run"},
		{"deployed in two ways", managed, both(deployed("per-aws-account", "per-openshift-cluster"), email), nil, "",
			"run schema it",
			plan.CodeAllowedFileChanged,
			`not fanned out: its definition names the sharding strategies "per-aws-account" and "per-openshift-cluster"`},
		{"deployed by number, too", managed, both(deployed("per-aws-account", "static"), email), nil, "", "run schema it",
			plan.CodeAllowedFileChanged,
			`not fanned out: its definition names the sharding strategies "per-aws-account" and "static"`},
		{"deployed as a whole, too", managed, both(deployed("per-aws-account", ""), email), nil, "", "run schema it",
			plan.CodeAllowedFileChanged,
			`not fanned out: its definition deploys it as a whole, too, not only by the sharding strategy "per-aws-account"`},
		{"deployed by what nobody knows", managed, both(deployed("per-moon"), email), nil, "", "run schema it",
			plan.CodeAllowedFileChanged,
			`not fanned out: its definition names the sharding strategy "per-moon", which is not known`},
		{"not deployed", managed, both(accounts, email), nil, "", "run schema it", plan.CodeAllowedFileChanged,
			"not fanned out: its definition names no sharding strategy"},
		{"deployed otherwise on head", managed, func(base, head *side) {
			deployed("per-openshift-cluster")(base)
			deployed("per-aws-account")(head)
		}, nil, "", "run definition it", plan.CodeDefinitionChanged,
			"(managed); it runs as base defines it; not fanned out: base and head deploy it by different sharding strategies"},
		{"a trace of the whole covers all shards", perAccount, both(accounts, email), map[string][]string{"": {names}}, "",
			"skip state", plan.CodeSameAnswers, ""},
		{"shards that are not known", perAccount, both(func(s *side) { accounts(s); s.at("/a/one.yml")["name"] = 7 }, email),
			map[string][]string{"two": {names}}, "", "run schema it", plan.CodeAllowedFileChanged,
			"not fanned out: /a/one.yml has no name to be a shard by"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, head := world(), world()
			tt.change(base, head)
			in := input(t, base, head, tt.settings)
			m := storedTraces{traces: map[string][]*trace.Trace{}, broken: tt.broken}
			for shard, queries := range tt.recall {
				m.traces[shard] = []*trace.Trace{recorded(t, shard, queries...)}
			}
			in.Traces = m
			p := made(t, in)
			d, _ := p.Decision("it")
			if got := brief(d); got != tt.want || !because(d, tt.code, tt.words) {
				t.Errorf("got %s: %s: %s\nwant %s: %s: … %s", got, d.Code, d.Reason, tt.want, tt.code, tt.words)
			}
			if gaps := verify(t, in, p); len(gaps) > 0 {
				t.Errorf("got gaps %v", gaps)
			}
		})
	}
}

// What could not be used is said in the plan.
func TestRecallWarns(t *testing.T) {
	base, head := world(), world()
	head.at("/users/ana.yml")["email"] = "new"
	in := input(t, base, head, whole)
	in.Traces = storedTraces{said: []string{"a trace is not used: it is cut short"}}
	if got := strings.Join(made(t, in).Warnings, "\n"); !strings.Contains(got, "a trace is not used: it is cut short") {
		t.Errorf("got %q", got)
	}
}

// A plan that rests on traces does not verify without them.
func TestVerifyNeedsTraces(t *testing.T) {
	base, head := world(), world()
	head.at("/users/ana.yml")["email"] = "new"
	in := input(t, base, head, whole)
	in.Traces = storedTraces{traces: map[string][]*trace.Trace{"": {recorded(t, "", names)}}}
	p := made(t, in)
	in.Traces = nil
	if gaps := verify(t, in, p); len(gaps) != 1 || !strings.Contains(gaps[0].Why, "must run in full") {
		t.Errorf("got %v", gaps)
	}
}

// The inputs of a task whose recorded filter has its keys in an order of its own are the same for the replay.
func TestInputsOfFiltersInOrder(t *testing.T) {
	asks := trace.RecordedRequest{Side: trace.Head, Query: "query($f: JSON) { users(filter: $f) { name email } }",
		Variables: []byte(`{"f": {"roles": {"filter": {}}, "name": "ana"}}`)}
	m := mutant{settings: static, change: email, given: remembers("", traced("", world(), asks))}
	in := m.input(t, m.settings)
	in.Results = results{}
	p := made(t, in)
	r, err := planner.Verify(t.Context(), in, p)
	if err != nil || len(r.Refuted) > 0 || len(p.Tasks) != 1 || p.Tasks[0].Inputs == "" {
		t.Errorf("got %v, %+v, tasks %+v", err, r.Refuted, p.Tasks)
	}
}
