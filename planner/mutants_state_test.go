package planner_test

import (
	"context"
	"errors"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
)

const leftOut = "planned to be skipped, but "

func stateMutants() []mutant {
	const differs = "its desired state differs"
	const unproven = inFull + "it is not proven that its desired state is the same"
	ignored := "paths: {ignore: ['**']}\n"
	retag := onHead(set("/roles/dev.yml", "tags", list{"y", "x"}))
	noName := unset("/users/ana.yml", "name")
	tell := func(state func(context.Context, integration.QueryFunc) (any, error)) func(*planner.Input) {
		return func(in *planner.Input) { in.Natives = []integration.DryRunner{telling{"it", state}} }
	}
	return []mutant{
		{name: "a field", settings: asks("", "emails.graphql"), change: email, hide: unchanged, words: differs},
		{name: "the second of two queries", settings: asks("", "names.graphql", "emails.graphql"), change: email,
			rules: asks("", "names.graphql"), words: differs},
		{name: "a reference of a reference", settings: asks("", "everyone.graphql"),
			change: onHead(set("/groups/dev.yml", "account", "three")), hide: unchanged, words: differs},
		{name: "a back reference", settings: asks("", "members.graphql"), change: rename, hide: unchanged, words: differs},
		{name: "one back reference less", settings: asks("", "members.graphql"),
			change: onHead(set("/users/bob.yml", "roles", list{})), hide: unchanged, words: differs},
		{name: "a reference that leads elsewhere", settings: asks("", "everyone.graphql"),
			change: onHead(set("/users/bob.yml", "roles", list{object{"$ref": "/roles/dev.yml"}})), hide: unchanged,
			words: differs},
		{name: "an element that is added", settings: asks("", "names.graphql"),
			change: onHead(set0("/users/new.yml", object{"$schema": "/user-1.yml", "name": "new"})), hide: unchanged,
			words: differs},
		{name: "an element that is added twice", settings: asks("", "names.graphql"),
			change: onHead(set0("/users/new.yml", object{"$schema": "/user-1.yml", "name": "ana"})), hide: unchanged,
			words: differs},
		{name: "an element that is removed", settings: asks("", "names.graphql"),
			change: onHead(func(s *side) { remove(s.data, "/users/bob.yml") }), hide: unchanged, words: differs},
		{name: "the content of a resource", settings: asks("", "templates.graphql"), change: onHead(content("/t.txt")),
			hide: unchanged, words: differs},
		{name: "the content of an ignored resource", settings: asks("", "templates.graphql") + ignored,
			change: onHead(content("/t.txt")), hide: unchanged, words: differs},
		{name: "files that it is not allowed to read", settings: asks("", "names.graphql"),
			change: then(always(set("/it.yml", "schemas", list{"/group-1.yml"})), rename),
			hide:   unchangedFiles("/users/ana.yml"), words: differs},
		{name: "the order of a list that counts", settings: asks(", list_order: significant", "roles.graphql"), change: retag,
			rules: asks("", "roles.graphql"), words: differs},
		{name: "an item that is there twice", settings: asks("", "roles.graphql"),
			change: onHead(set("/roles/dev.yml", "tags", list{"x", "y", "y"})), hide: unchanged, words: differs},
		{name: "an item more of another", settings: asks("", "roles.graphql"),
			change: then(always(set("/roles/dev.yml", "tags", list{"x", "y", "y"})),
				onHead(set("/roles/dev.yml", "tags", list{"x", "x", "y"}))), hide: unchanged, words: differs},
		{name: "a type of a field", settings: asks("", "roles.graphql"), change: onHead(func(s *side) {
			s.types[3] = kind("Group_v1", "/group-1.yml", field("name", "string", nil), field("account", "string", nil),
				field("size", "string", nil))
		}), hide: unchanged, words: differs},
		{name: "a query that head rejects", settings: asks("", "names.graphql"), change: noNames, hide: unchanged,
			words: unproven},
		{name: "a query that base rejects", settings: asks("", "names.graphql"), change: func(base, head *side) {
			noNames(head, base)
		}, hide: func(base, head *side) { base.types = head.types }, words: unproven},
		{name: "an error of head alone", settings: asks("", "names.graphql"), change: onHead(noName), hide: unchanged,
			words: unproven},
		{name: "an error of base alone", settings: asks("", "names.graphql"), change: func(base, _ *side) { noName(base) },
			hide: func(base, head *side) { base.data = head.data }, words: unproven},
		{name: "what an error of both sides hides", settings: asks("", "people.graphql"),
			change: then(always(noName), onHead(set("/users/bob.yml", "email", "new"))), hide: unchangedFiles("/users/bob.yml"),
			words: differs},
		{name: "an error of both sides, and the order counts", settings: asks(", list_order: significant", "names.graphql"),
			change: then(always(noName), email),
			rules:  asks("", "names.graphql"), words: unproven},
		{name: "a native state", settings: exec, change: resize, given: tell(sizes), hide: unchanged, words: differs},
		{name: "a native state that fails", settings: exec, change: resize,
			given:  tell(func(context.Context, integration.QueryFunc) (any, error) { return nil, errors.New("no luck") }),
			forget: tell(func(context.Context, integration.QueryFunc) (any, error) { return 1, nil }), words: unproven},
		{name: "a native integration without a state", settings: exec, change: resize,
			given: func(in *planner.Input) {
				in.Natives = []integration.DryRunner{native("it")}
			}, forget: tell(func(context.Context, integration.QueryFunc) (any, error) { return 1, nil }), words: inFull},
	}
}

func shardMutants() []mutant {
	bigger := func(role string) func(*side) { return set("/groups/"+role+".yml", "size", 7) }
	two := then(onHead(bigger("dev")), onHead(bigger("ops")))
	ref := func(name string) object { return object{"$ref": "/groups/" + name + ".yml"} }
	together := always(set("/roles/dev.yml", "groups", list{ref("dev"), ref("ops")}))
	const single = "planned for single shards, but must run in full: "
	less := func(p *plan.Plan) { // the first shard is left out
		d := decision(p)
		gone := d.Tasks[0]
		d.Tasks = d.Tasks[1:]
		var tasks []plan.Task
		for _, t := range p.Tasks {
			if t.ID != gone {
				tasks = append(tasks, t)
			}
		}
		p.Tasks = tasks
	}
	pairs := func(a, b string) func(s *side) {
		return func(s *side) {
			for i, groups := range []string{a, b} {
				l := list{}
				for _, g := range groups {
					l = append(l, ref(string(g)))
				}
				s.data["/roles/"+string(rune('p'+i))+".yml"] = object{"$schema": "/role-1.yml", "name": "same", "groups": l}
			}
			for _, g := range "abcd" {
				s.data["/groups/"+string(g)+".yml"] = object{"$schema": "/group-1.yml", "name": "g", "account": "k" + string(g)}
			}
		}
	}
	return []mutant{
		{name: "a shard", settings: byAccount(""), change: two, edit: less,
			words: `shard "one" is left out, but its desired state differs`},
		{name: "all shards", settings: byAccount(""), change: two, hide: unchanged,
			words: leftOut + "its desired state differs for shards"},
		{name: "a shard that another one has changes beside", settings: byAccount(""), change: two,
			hide: unchangedFiles("/groups/dev.yml"), words: `shard "one" is left out`},
		{name: "a shard that is added", settings: byAccount(""), change: then(onHead(bigger("ops")), onHead(func(s *side) {
			s.data["/groups/new.yml"] = object{"$schema": "/group-1.yml", "name": "new", "account": "three"}
			set("/roles/dev.yml", "groups", list{ref("dev"), ref("new")})(s)
		})), hide: unchangedFiles("/groups/new.yml", "/roles/dev.yml"), words: `shard "three" is left out`},
		{name: "a shard that is removed", settings: byAccount(""),
			change: then(onHead(bigger("ops")), onHead(set("/roles/dev.yml", "groups", list{}))),
			hide:   unchangedFiles("/roles/dev.yml"),
			words:  single + "its desired state differs, and not for single shards only"},
		{name: "what is around two shards", settings: byAccount(""),
			change: then(together, onHead(set("/roles/dev.yml", "tags", list{"new"}))), edit: less,
			words: `shard "one" is left out`},
		{name: "what belongs to no shard", settings: byAccount(""),
			change: then(onHead(bigger("ops")),
				onHead(set0("/roles/none.yml", object{"$schema": "/role-1.yml", "name": "none"}))),
			hide: unchangedFiles("/roles/none.yml"), words: single},
		{name: "another query without shards",
			settings: asks(`, shards: {by: ["roles[*].groups[*].account"], arg: --account}`, "roles.graphql", "names.graphql"),
			change:   then(onHead(bigger("ops")), rename), hide: unchangedFiles("/users/ana.yml"), words: single},
		{name: "an element without a key", settings: byAccount(""), change: then(always(unset("/groups/dev.yml", "account")),
			two), hide: unchangedFiles("/groups/dev.yml"), words: single},
		{name: "a key that is empty", settings: byAccount(""), change: then(always(set("/groups/dev.yml", "account", "")),
			two), hide: unchangedFiles("/groups/dev.yml"), words: single},
		{name: "a key like an option", settings: byAccount(""), change: then(always(set("/groups/dev.yml", "account", "-x")),
			two), hide: unchangedFiles("/groups/dev.yml"), words: single},
		{name: "a key like a placeholder", settings: byAccount(""),
			change: then(always(set("/groups/dev.yml", "account", "{cmd}")), two), hide: unchangedFiles("/groups/dev.yml"),
			words: single},
		{name: "elements that stand together otherwise", settings: byAccount(""),
			change: both(pairs("ab", "cd"), onHead(pairs("ac", "bd"))), hide: unchanged,
			words: inFull + "its desired state differs, and not for single shards only: the difference cannot be told apart"},
		{name: "regrouped shards beside one that differs", settings: byAccount(""),
			change: then(both(pairs("ab", "cd"), onHead(pairs("ac", "bd"))), onHead(bigger("ops"))),
			hide:   unchangedFiles("/roles/p.yml", "/roles/q.yml"), words: single},
		{name: "more shards than are worth it", settings: byAccount(", max: 1"), change: two, rules: byAccount(", max: 2"),
			hide: unchangedFiles("/groups/dev.yml"), words: single + "its desired state differs for 2 shards, more than the 1"},
		{name: "an order of shards that counts",
			settings: asks(`, list_order: significant, shards: {by: ["roles[*].groups[*].account"], arg: --account}`,
				"roles.graphql"),
			change: then(together, onHead(set("/roles/dev.yml", "groups", list{ref("ops"), ref("dev")}))), hide: unchanged,
			words: leftOut},
		{name: "a shard of a full run", settings: byAccount(", fan_out: true"),
			change: then(onHead(bigger("ops")),
				onHead(set0("/roles/none.yml", object{"$schema": "/role-1.yml", "name": "none"}))),
			edit: less, words: `shard "one" is left out, but it must run in full`},
		{name: "a static shard", settings: numbered(asDeployed), change: both(clusters(override("two", subshards(2))), email),
			edit: less, words: `is left out, but it must run in full`},
	}
}
