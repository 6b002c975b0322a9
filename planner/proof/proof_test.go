package proof_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// parse makes a bundle of the integration "it", two accounts and a user with this email.
func parse(email string) *bundle.Bundle {
	b, err := bundle.Parse([]byte(`{"data":{
		"/it.yml":{"$schema":"/app-sre/integration-1.yml","name":"it","schemas":["/user-1.yml"],"pr_check":{"cmd":"it"},
			"managed":[{"sharding":{"strategy":"per-aws-account"}}]},
		"/one.yml":{"$schema":"/aws/account-1.yml","name":"one"},
		"/two.yml":{"$schema":"/aws/account-1.yml","name":"two","disable":{"integrations":["another"]}},
		"/three.yml":{"$schema":"/aws/account-1.yml","name":"three","disable":{"integrations":["it"]}},
		"/user.yml":{"$schema":"/user-1.yml","name":"ana","email":"`+email+`","account":"one"},
		"/other.yml":{"$schema":"/user-1.yml","name":"bob","email":"`+email+`","account":"two"}
	},"resources":{},"schemas":{},"graphql":[
		{"name":"User","fields":[{"name":"name","type":"string"},{"name":"email","type":"string"},{"name":"account","type":"string"}]},
		{"name":"Query","fields":[{"name":"users","type":"User","isList":true,"datafileSchema":"/user-1.yml"}]}]}`), nil)
	if err != nil {
		panic(err)
	}
	return b
}

// given are tasks as somebody says that they are.
type given struct {
	full    []string // the shards of a full run
	divided []string // the shards of the strategy
}

func (g given) tasks(shards []string) (out []plan.Task) {
	for _, s := range shards {
		out = append(out, g.Task("it", s))
	}
	return out
}

func (g given) Full(context.Context, string) []plan.Task { return g.tasks(g.full) }
func (g given) Divided(string) []plan.Task               { return g.tasks(g.divided) }
func (given) IsStartedRight(plan.Task) bool              { return true }
func (given) NewCommand(string) (plan.Task, bool)        { return plan.Task{}, false }
func (given) Unknown(plan.Task) string                   { return "" }
func (given) Task(name, shard string) plan.Task {
	return plan.Task{ID: name + shard, Integration: name, Shard: shard, Command: "sha256:" + name}
}

// input returns the input of a change of all emails, with settings for "it".
func input(rules string, tasks given) proof.Input {
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\nexec: {argv: [run, '{shard_args}']}\n"+rules))
	if err != nil {
		panic(err)
	}
	return proof.Input{
		Base: parse("old"), Head: parse("new"), Settings: s, Tasks: tasks,
		ReadQuery: func(string) ([]byte, error) { return []byte("{ users { name email account } }"), nil },
	}
}

// changedEmails are the changes of an input.
var changedEmails = plan.Changes{Datafiles: []plan.Datafile{{Path: "/other.yml", Kind: plan.Modified},
	{Path: "/user.yml", Kind: plan.Modified}}}

// The division into tasks comes from elsewhere. A full run that lacks a shard is refuted
// nevertheless.
func TestFullRunLacksShard(t *testing.T) {
	const (
		byAccount = "integrations: {it: {shards: {strategy: per-aws-account}}}\n"
		managed   = "integrations: {it: {shards: {strategy: managed}}}\n"
		byKey     = "integrations: {it: {queries: [q.graphql], shards: {by: ['users[*].account'], max: 1, fan_out: true, arg: --account}}}\n"
	)
	one, both, whole := []string{"one"}, []string{"one", "two"}, []string{""}
	tests := []struct {
		name, settings string
		tasks          given
		planned        []string
		want           string // in the reason; "" when the plan holds
	}{
		{"all shards", byAccount, given{both, both}, both, ""},
		{"the whole", byAccount, given{whole, both}, whole, ""},
		{"a shard of a strategy", byAccount, given{one, one}, one, `shard "two" is left out`},
		{"a shard as deployed", managed, given{one, one}, one, `shard "two" is left out`},
		{"a shard by keys", byKey, given{one, nil}, one, `shard "two" is left out`},
		{"all shards by keys", byKey, given{both, nil}, both, ""},
		{"shards of nothing", "", given{one, nil}, one, "it has no shards"},
		{"a shard that is said to be there", byAccount, given{both, both}, one, `shard "two" is left out`},
	}
	for _, tt := range tests {
		in := input(tt.settings, tt.tasks)
		p := &plan.Plan{Changes: changedEmails,
			Integrations: []plan.Decision{{Name: "it", Decision: plan.Run, Rung: plan.RungSchema}}}
		for _, task := range tt.tasks.tasks(tt.planned) {
			p.Tasks = append(p.Tasks, withInputs(in, task))
		}
		r, err := proof.Check(t.Context(), in, p)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, g := range r.Refuted {
			got += g.Why
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// withInputs fills in the inputs of a task that sees both bundles as they are. Their digest
// is written down here once more, because results of tasks are remembered by it.
func withInputs(in proof.Input, task plan.Task) plan.Task {
	text := fmt.Sprintf(`{"command":%q,"engine":%q,"integration":%q,"sees":{"bundles":[%q,%q]},"shard":%q}`,
		task.Command, trace.Version, task.Integration, in.Base.SHA256(), in.Head.SHA256(), task.Shard)
	task.Inputs = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	return task
}

func ExampleCheck() {
	in := input("", given{full: []string{""}})
	p := &plan.Plan{Changes: changedEmails,
		Integrations: []plan.Decision{{Name: "it", Decision: plan.Skip, Rung: plan.RungState, Code: plan.CodeSameState}}}
	r, err := proof.Check(context.Background(), in, p)
	fmt.Println(r.Refuted, err)
	// Output:
	// [{it planned to be skipped, but must run in full: it may read /other.yml and 1 more, which changed, and has no queries to look closer}] <nil>
}
