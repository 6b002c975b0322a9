package schemafilter_test

import "github.com/app-sre/prcheck/plan"

// definitionRules decide by the definitions alone.
var definitionRules = []rule{
	// Nothing runs when the bundles are the same.
	{
		name: "same bundles", change: func(_, _ *side) {},
		want: skipped(plan.RungSchema, because(plan.CodeSameBundle), plan.Evidence{}),
	},
	{
		name: "same bundles and always_run",
		change: func(base, head *side) {
			putBoth("/i/x.yml", x(object{"always_run": true}), x(object{"always_run": true}))(base, head)
		},
		want: skipped(plan.RungSchema, because(plan.CodeSameBundle), plan.Evidence{}),
	},
	{
		name: "an ignored datafile that it may read", settings: `paths: {ignore: ["data/*.yml", "resources/**"]}`,
		change: func(_, head *side) {
			head.data["/a.yml"], head.resources["/r/alone.txt"] = file("/s/a.yml", 2), resource("2")
		},
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/a.yml"), hit("/a.yml")),
	},
	{
		name: "an ignored resource is no doubt", settings: `paths: {ignore: ["resources/**"]}`,
		change: putResource("/r/alone.txt", resource("2")),
		want:   skipped(plan.RungSchema, because(plan.CodeAllIgnored), two),
	},
	{
		name: "an ignored resource that a datafile it may read mentions", settings: `paths: {ignore: ["resources/**"]}`,
		change: func(base, head *side) {
			putBoth("/a.yml", file("/s/a.yml", "/r/alone.txt"), file("/s/a.yml", "/r/alone.txt"))(base, head)
			head.resources["/r/alone.txt"] = resource("2")
		},
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/r/alone.txt"), hit("/r/alone.txt")),
	},
	{
		name: "an ignored change and always_run", settings: `paths: {ignore: ["resources/**"]}`,
		change: func(base, head *side) {
			putBoth("/i/x.yml", x(object{"always_run": true}), x(object{"always_run": true}))(base, head)
			head.resources["/r/alone.txt"] = resource("2")
		},
		want: runs(plan.RungDefinition, because(plan.CodeAlwaysRun), plan.Evidence{}),
	},
	{
		name: "an ignored change of its definition", settings: `paths: {ignore: ["data/i/**"]}`,
		change: put("/i/x.yml", x(object{"cmd": "y"})),
		want:   runs(plan.RungDefinition, because(plan.CodeDefinitionChanged, "pr_check"), fields("pr_check")),
	},
	{
		name: "an ignored change, for one with queries", settings: `paths: {ignore: ["resources/**"]}`, hasState: true,
		change: putResource("/r/alone.txt", resource("2")),
		want:   open(false, skipped(plan.RungSchema, because(plan.CodeAllIgnored), two)),
	},
	{
		name: "one change is not ignored", settings: `paths: {ignore: ["resources/**"]}`,
		change: func(_, head *side) {
			head.data["/a.yml"], head.resources["/r/schema.txt"] = file("/s/a.yml", 2), resource("2", "/s/a.yml")
		},
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/a.yml", "/r/schema.txt"),
			hit("/a.yml", "/r/schema.txt")),
	},
	{
		name: "a changed type is never ignored", settings: `paths: {ignore: ["**"]}`,
		change: func(_, head *side) { head.data["/b.yml"], head.schemas["/s/b.yml"] = file("/s/b.yml", 2), object{} },
		want:   doubted(because(plan.CodeTypesChanged, "/s/b.yml"), two),
	},

	// Base decides about an integration that both sides define.
	{
		name: "its command changed", change: put("/i/x.yml", x(object{"cmd": "evil"})),
		want: runs(plan.RungDefinition, because(plan.CodeDefinitionChanged, "pr_check"), fields("pr_check")),
	},
	{
		name: "head disables it", change: put("/i/x.yml", x(object{"cmd": "x", "disabled": true})),
		want: runs(plan.RungDefinition, because(plan.CodeDefinitionChanged, "pr_check"), fields("pr_check")),
	},
	{
		name: "head takes its pr_check away", change: put("/i/x.yml", x(nil)),
		want: runs(plan.RungDefinition, because(plan.CodeDefinitionChanged, "pr_check"), fields("pr_check")),
	},
	{
		name: "head enables it", change: putBoth("/i/x.yml", x(object{"disabled": true}), x(object{"cmd": "x"})),
		want: runs(plan.RungDefinition, because(plan.CodeDefinitionChanged, "pr_check"), fields("pr_check")),
	},
	{
		name:   "its schemas and managed changed",
		change: put("/i/x.yml", with(definition("x", object{"cmd": "x"}), "managed", []any{})),
		want: runs(plan.RungDefinition, because(plan.CodeDefinitionChanged, "schemas", "managed"),
			fields("schemas", "managed")),
	},
	{
		name: "only its description changed", change: put("/i/x.yml", with(x(object{"cmd": "x"}), "description", "new")),
		want: skipped(plan.RungSchema, unconcerned, two),
	},
	{
		name: "its definition moved",
		change: func(_, head *side) {
			head.data["/i/y.yml"] = head.data["/i/x.yml"]
			delete(head.data, "/i/x.yml")
		},
		want: skipped(plan.RungSchema, unconcerned, plan.Evidence{Allowed: 2, Definition: []string{"/i/x.yml", "/i/y.yml"}}),
	},

	// One side alone.
	{
		name: "head removes it", change: func(_, head *side) { delete(head.data, "/i/x.yml") },
		want: skipped(plan.RungDefinition, because(plan.CodeRemoved), plan.Evidence{}),
	},
	{
		name: "only head defines it", change: func(base, _ *side) { delete(base.data, "/i/x.yml") },
		want: blocked(runs(plan.RungDefinition, because(plan.CodeNewDefinition), plan.Evidence{}),
			plan.CodeUntrustedDefinition),
	},
	{
		name: "only head defines it, and is trusted", settings: "trust: {new_integrations: true}",
		change: func(base, _ *side) { delete(base.data, "/i/x.yml") },
		want:   runs(plan.RungDefinition, because(plan.CodeNewDefinition), plan.Evidence{}),
	},
	{
		name: "new without pr_check",
		change: func(base, head *side) {
			delete(base.data, "/i/x.yml")
			head.data["/i/x.yml"] = x(nil)
		},
		want: skipped(plan.RungDefinition, because(plan.CodeNewWithoutCheck), plan.Evidence{}),
	},
	{
		name: "new and disabled",
		change: func(base, head *side) {
			delete(base.data, "/i/x.yml")
			head.data["/i/x.yml"] = x(object{"disabled": true})
		},
		want: skipped(plan.RungDefinition, because(plan.CodeNewDisabled), plan.Evidence{}),
	},
	{
		name: "only head gives it a pr_check", change: putBoth("/i/x.yml", x(nil), x(object{"cmd": "x"})),
		want: blocked(runs(plan.RungDefinition, because(plan.CodeNewCheck), fields("pr_check")), plan.CodeUntrustedCheck),
	},
	{
		name:   "only head gives it a pr_check, a disabled one",
		change: putBoth("/i/x.yml", x(nil), x(object{"disabled": true})),
		want:   skipped(plan.RungDefinition, because(plan.CodeDisabled), plan.Evidence{}),
	},

	// always_run, no pr_check, a disabled one.
	{
		name: "always_run",
		change: func(base, head *side) {
			putBoth("/i/x.yml", x(object{"always_run": true}), x(object{"always_run": true}))(base, head)
			head.data["/b.yml"] = file("/s/b.yml", 2)
		},
		want: runs(plan.RungDefinition, because(plan.CodeAlwaysRun), plan.Evidence{}),
	},
	{
		name: "always_run and disabled", hasState: true,
		change: func(base, head *side) {
			check := object{"always_run": true, "disabled": true}
			putBoth("/i/x.yml", x(check), with(x(check), "description", "new"))(base, head)
		},
		want: skipped(plan.RungDefinition, because(plan.CodeDisabled), plan.Evidence{}),
	},
	{
		name: "disabled, with another command", change: putBoth("/i/x.yml", x(object{"cmd": "x", "disabled": true}),
			x(object{"cmd": "y", "disabled": true})),
		want: skipped(plan.RungDefinition, because(plan.CodeDisabled), plan.Evidence{}),
	},
	{
		name: "no pr_check",
		change: func(base, head *side) {
			putBoth("/i/x.yml", x(nil), x(nil))(base, head)
			head.data["/a.yml"] = file("/s/a.yml", 2)
		},
		want: skipped(plan.RungDefinition, because(plan.CodeNoCheck), plan.Evidence{}),
	},
}
