package planner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/trace"
)

// A program is what settings say that "it" is: what it asks of either side, and
// whether the order of lists means something to it. Without queries it may look at
// everything.
type program struct {
	settings string
	asks     []gql.Request
	ordered  bool
	traced   bool // nothing but its trace tells what it asks
}

func programs() []program {
	ask := func(files ...string) []gql.Request {
		var out []gql.Request
		for _, f := range files {
			out = append(out, gql.Request{Query: queries[f]})
		}
		return out
	}
	const by = `shards: {by: ["roles[*].groups[*].account"], arg: --account`
	one := gql.Request{
		Query:     "query($p: String) { users(path: $p) { name email roles { name } } }",
		Variables: bundle.NewObject(bundle.Member{Key: "p", Value: "/users/ana.yml"}),
	}
	recorded := append(ask("roles.graphql"), one)
	static := func(more string) string { return exec + "integrations: {it: {trace: static" + more + "}}\n" }
	return []program{
		{exec, nil, false, false},
		{numbered(asDeployed), nil, false, false},
		{asks("", "names.graphql"), ask("names.graphql"), false, false},
		{asks("", "templates.graphql", "emails.graphql"), ask("templates.graphql", "emails.graphql"), false, false},
		{asks("", "members.graphql"), ask("members.graphql"), false, false},
		{asks(", list_order: significant", "roles.graphql"), ask("roles.graphql"), true, false},
		{asks(", "+by+"}", "roles.graphql"), ask("roles.graphql"), false, false},
		{asks(", "+by+", fan_out: true}", "roles.graphql", "names.graphql"), ask("roles.graphql", "names.graphql"), false,
			false},
		{asks(", "+by+", max: 1, fan_out: true}", "roles.graphql"), ask("roles.graphql"), false, false},
		{asks(", list_order: significant, "+by+", fan_out: true}", "roles.graphql"), ask("roles.graphql"), true, false},
		{asks(`, shards: {by: ["roles[*].groups[*].account", "groups[*].account"], arg: --account, fan_out: true}`,
			"roles.graphql", "groups.graphql"),
			ask("roles.graphql", "groups.graphql"), false, false},
		{numbered("queries: [roles.graphql], " + asDeployed), ask("roles.graphql"), false, false},
		{numbered("queries: [roles.graphql], shards: {strategy: static}"), ask("roles.graphql"), false, false},
		{static(""), recorded, true, true},
		{static(", list_order: ignored, " + by + ", fan_out: true}"), recorded, false, true},
	}
}

// mutations are what a change, or what base gets, may be.
func mutations() []func(*rand.Rand, *side) {
	keys := []any{"one", "two", "three", "a/b", "ü", "-x", "a{b", "", nil, 7, strings.Repeat("k", 300)}
	pick := func(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }
	user := func(r *rand.Rand) string { return pick(r, "/users/ana.yml", "/users/bob.yml") }
	role := func(r *rand.Rand) string { return pick(r, "/roles/dev.yml", "/roles/ops.yml", "/roles/new.yml") }
	group := func(r *rand.Rand) string { return pick(r, "/groups/dev.yml", "/groups/ops.yml", "/groups/new.yml") }
	cluster := func(r *rand.Rand) string { return pick(r, "one", "two") }
	refs := func(r *rand.Rand, n int, one func(*rand.Rand) string) list {
		out := list{}
		for range r.IntN(n) {
			out = append(out, object{"$ref": one(r)})
		}
		return out
	}
	tags := func(r *rand.Rand) list { return []list{{"x", "y"}, {"y", "x"}, {"x", "x"}, {"x"}, {}, nil}[r.IntN(6)] }
	set := func(s *side, path, key string, value any) {
		if o, ok := s.data[path].(object); ok {
			o[key] = value
		}
	}
	return []func(*rand.Rand, *side){
		func(r *rand.Rand, s *side) { set(s, user(r), "email", pick(r, "a@x", "b@x", "new")) },
		func(r *rand.Rand, s *side) { set(s, user(r), "name", pick(r, "ana", "bob", "rob")) },
		func(r *rand.Rand, s *side) { set(s, user(r), "roles", refs(r, 4, role)) },
		func(r *rand.Rand, s *side) { set(s, role(r), "groups", refs(r, 4, group)) },
		func(r *rand.Rand, s *side) { set(s, role(r), "tags", tags(r)) },
		func(r *rand.Rand, s *side) { set(s, group(r), "account", keys[r.IntN(len(keys))]) },
		func(r *rand.Rand, s *side) { set(s, group(r), "account", keys[r.IntN(3)]) },
		func(r *rand.Rand, s *side) { set(s, group(r), "size", r.IntN(3)) },
		func(r *rand.Rand, s *side) {
			set(s, group(r), "template", pick(r, "/t.txt", "/own.yml", "/lone.txt", "/none"))
		},
		func(r *rand.Rand, s *side) {
			s.data["/roles/new.yml"] = object{"$schema": "/role-1.yml", "name": pick(r, "new", "dev"), "tags": tags(r),
				"groups": refs(r, 3, group)}
		},
		func(r *rand.Rand, s *side) {
			s.data["/groups/new.yml"] = object{"$schema": "/group-1.yml", "name": "new", "account": keys[r.IntN(4)],
				"template": "/t.txt"}
		},
		func(r *rand.Rand, s *side) { delete(s.data, pick(r, user(r), role(r), group(r))) },
		func(r *rand.Rand, s *side) { s.resources["/t.txt"] = resource("/t.txt", pick(r, "text", "other"), nil) },
		func(r *rand.Rand, s *side) {
			s.resources["/own.yml"] = resource("/own.yml", pick(r, "text", "other"), []any{"/res-1.yml", nil}[r.IntN(2)])
		},
		func(r *rand.Rand, s *side) {
			s.resources["/lone.txt"] = resource("/lone.txt", pick(r, "text", "other"), nil)
		},
		func(r *rand.Rand, s *side) { s.schemas["/user-1.yml"] = object{"version": r.IntN(2)} },
		func(_ *rand.Rand, s *side) {
			s.types[1]["fields"] = append(s.types[1]["fields"].([]object), field("more", "string", nil))
		},
		func(r *rand.Rand, s *side) { set(s, "/others/else.yml", "name", pick(r, "x", "else")) },
		func(r *rand.Rand, s *side) {
			set(s, "/it.yml", "schemas", []list{{"/role-1.yml"}, {"/user-1.yml", "/group-1.yml"}}[r.IntN(2)])
		},
		func(r *rand.Rand, s *side) { set(s, "/it.yml", "description", pick(r, "x", "y")) },
		func(r *rand.Rand, s *side) { s.check()["cmd"] = pick(r, "it", "it --more") },
		func(r *rand.Rand, s *side) { s.check()["imageRef"] = pick(r, "", "v2") },
		func(r *rand.Rand, s *side) { s.check()["early_exit"] = r.IntN(2) == 0 },
		func(r *rand.Rand, s *side) {
			delete(s.at("/it.yml"), "managed")
			clusters(override(cluster(r), subshards(1+r.IntN(3))),
				override(cluster(r), object{"imageRef": pick(r, "i", "j")}))(s)
		},
		func(r *rand.Rand, s *side) { delete(s.at("/it.yml"), "managed"); numbers(1 + r.IntN(3))(s) },
		func(r *rand.Rand, s *side) { set(s, "/c/"+cluster(r)+".yml", "name", pick(r, "one", "two", "new")) },
		func(r *rand.Rand, s *side) {
			set(s, "/c/"+cluster(r)+".yml", "disable", object{"integrations": list{pick(r, "it", "that")}})
		},
	}
}

// view is all that the task of a shard can see of a bundle: what a program does that
// asks what p asks and looks at its own shard alone.
func (p program) view(t *testing.T, b *bundle.Bundle, shard string) string {
	t.Helper()
	definition, _ := b.Datafile("/it.yml")
	out := fmt.Sprintf("%s %s ", b.TypesSHA256(), definition.Raw())
	if p.asks == nil {
		return out + b.ContentsSHA256()
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	engine := gql.New(b, schema)
	for _, req := range p.asks {
		var answer any
		if err := json.Unmarshal(engine.Answer(t.Context(), req).JSON(), &answer); err != nil {
			t.Fatal(err)
		}
		if data, ok := answer.(object)["data"].(object); ok && shard != "" && !p.ordered &&
			strings.Contains(p.settings, "by: [") {
			if strings.Contains(p.settings, `"groups[*]`) {
				data["groups"] = mine(data["groups"], shard)
			}
			data["roles"] = mineBelow(data["roles"], shard)
		}
		raw, err := json.Marshal(p.plain(answer))
		if err != nil {
			t.Fatal(err)
		}
		out += string(raw)
	}
	return out
}

// mine are the groups that do not belong to another shard.
func mine(groups any, shard string) any {
	all, ok := groups.([]any)
	if !ok {
		return groups
	}
	return slices.DeleteFunc(slices.Clone(all), func(g any) bool {
		o, _ := g.(object)
		key, ok := o["account"].(string)
		return ok && sharding.CheckKey(key) == nil && key != shard
	})
}

// mineBelow are the roles that have no groups at all, or some that do not belong to
// another shard, with these.
func mineBelow(roles any, shard string) any {
	all, ok := roles.([]any)
	if !ok {
		return roles
	}
	out := []any{}
	for _, role := range all {
		o, _ := role.(object)
		groups, ok := o["groups"].([]any)
		left := []any{}
		if ok {
			left = mine(o["groups"], shard).([]any)
			o = maps.Clone(o)
			o["groups"], role = left, o
		}
		if len(left) > 0 || len(groups) == 0 {
			out = append(out, role)
		}
	}
	return out
}

// plain sorts the lists of an answer, unless their order means something.
func (p program) plain(v any) any {
	switch v := v.(type) {
	case object:
		for key := range v {
			v[key] = p.plain(v[key])
		}
	case list:
		text := func(v any) string { raw, _ := json.Marshal(v); return string(raw) }
		for i := range v {
			v[i] = p.plain(v[i])
		}
		if !p.ordered {
			sort.Slice(v, func(i, j int) bool { return text(v[i]) < text(v[j]) })
		}
	}
	return v
}

// recorded is the trace of the program over a bundle.
func (p program) recorded(t *testing.T, b *bundle.Bundle) *trace.Trace {
	t.Helper()
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	engine, r := gql.New(b, schema), trace.NewRecorder("then", "then")
	for _, req := range p.asks {
		res := engine.Answer(t.Context(), req)
		r.Note(trace.Exchange{Path: "/graphql", SHA256: "then", Request: &req, Response: res, Status: res.Status,
			Body: res.JSON()})
	}
	return r.Trace(trace.TaskKey{Integration: "it"}, time.Unix(0, 0))
}

// Four random bundles, and a program that passed over the first two. Whatever is left
// out over the others sees there the very same.
func TestReuseIsWhatProgramsSee(t *testing.T) {
	all, kinds := mutations(), programs()
	reused, shards, ran := map[int]int{}, 0, 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 11)) //nolint:gosec // repeatable
		kind := r.IntN(len(kinds))
		p := kinds[kind]
		settings := p.settings +
			[]string{"", "paths: {select: [{when: ['resources/l*', 'data/others/*'], run: [it]}]}\n"}[r.IntN(2)]
		var sides [4]*side // base, head; base, head
		for i := range sides {
			sides[i] = world()
			clusters(override("two", subshards(2)))(sides[i])
		}
		change := func(n int, who ...int) {
			for range n {
				f, again := all[r.IntN(len(all))], r.Uint64()
				for _, i := range who {
					f(rand.New(rand.NewPCG(again, 0)), sides[i]) //nolint:gosec // repeatable
				}
			}
		}
		change(r.IntN(3), 0, 1, 2, 3)
		switch r.IntN(4) { // what base gets comes before the change, or after it, or to one side alone
		case 0:
			change(1+r.IntN(2), 2, 3)
			change(1+r.IntN(2), 1, 3)
		case 1:
			change(1+r.IntN(2), 1, 3)
			change(1+r.IntN(2), 2, 3)
		case 2:
			change(1+r.IntN(2), 1, 3)
			change(1, 2+r.IntN(2))
		case 3:
			change(1+r.IntN(2), 1, 3)
			for _, s := range sides {
				s.data["/zzz.yml"] = object{"$schema": "/other-1.yml", "name": "zzz"}
			}
		}
		before, after := input(t, sides[0], sides[1], settings), input(t, sides[2], sides[3], settings)
		if p.traced {
			traces := storedTraces{traces: map[string][]*trace.Trace{"": {p.recorded(t, world().bundle(t, nil))}}}
			before.Traces, after.Traces = traces, traces
		}
		before.Results = results{}
		earlier := made(t, before)
		after.Results = passing(earlier)
		now := made(t, after)
		if text(t, now) != text(t, made(t, after)) {
			t.Errorf("the same input gives other bytes")
		}
		ran += len(now.Tasks)
		for _, d := range now.Integrations {
			for _, e := range d.Evidence.Passed {
				reused[kind]++
				key, _, _ := strings.Cut(e.Shard, "{")
				if key != "" {
					shards++
				}
				was := slices.IndexFunc(earlier.Tasks, func(t plan.Task) bool {
					return t.Label() == e.Shard && t.Inputs == e.Inputs
				})
				if was < 0 {
					t.Errorf("no task %q passed", e.Shard)
				}
				for i, pair := range [][2]*bundle.Bundle{{before.Base, after.Base}, {before.Head, after.Head}} {
					if a, b := p.view(t, pair[0], key), p.view(t, pair[1], key); a != b {
						t.Errorf("%s: shard %q saw\n%s\nand now\n%s", []string{"base", "head"}[i], e.Shard, a, b)
					}
				}
			}
		}
		if gaps := verify(t, after, now); len(gaps) > 0 {
			t.Errorf("the plan does not verify: %v", gaps)
		}
		if n := len(now.Tasks); n > 0 {
			forgetful := after
			forgetful.Results = results{} // a whole that passed covers its parts
			dropped(t, forgetful, now, "it", now.Tasks[r.IntN(n)].ID)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, settings)
		}
	}
	t.Logf("%v left out, %d of them shards; %d ran", reused, shards, ran)
	for i, p := range kinds {
		if reused[i] == 0 {
			t.Errorf("nothing is ever left out of %s", p.settings)
		}
	}
}
