package schemafilter_test

import "github.com/app-sre/prcheck/plan"

// schemaRules decide by paths and schemas.
var schemaRules = []rule{
	// paths rules.
	{
		name: "a paths rule", settings: `paths: {select: [{when: ["data/c/*", "data/b*"], run: [x]}]}`,
		change: put("/b.yml", file("/s/b.yml", 2)),
		want: runs(plan.RungSchema, plan.Reason{Code: plan.CodePathsRule, Text: "data/b* covers data/b.yml"},
			plan.Evidence{Allowed: 2, Rule: "data/b* covers data/b.yml"}),
	},
	{
		name:     "two paths rules and two paths",
		settings: `paths: {select: [{when: ["data/b*"], run: [x]}, {when: ["data/**"], run: [x]}]}`,
		change: func(_, head *side) {
			head.data["/b.yml"], head.data["/c.yml"] = file("/s/b.yml", 2), file("/s/b.yml", 3)
		},
		want: runs(plan.RungSchema, plan.Reason{Code: plan.CodePathsRule, Text: "data/b* covers data/b.yml"},
			plan.Evidence{Allowed: 2, Rule: "data/b* covers data/b.yml"}),
	},
	{
		name: "a paths rule for one with queries", settings: `paths: {select: [{when: ["resources/**"], run: [x]}]}`,
		hasState: true,
		change:   putResource("/r/alone.txt", resource("2")),
		want: runs(plan.RungSchema,
			plan.Reason{Code: plan.CodePathsRule, Text: "resources/** covers resources/r/alone.txt"},
			plan.Evidence{Allowed: 2, Rule: "resources/** covers resources/r/alone.txt"}),
	},
	{
		name: "a paths rule for another path", settings: `paths: {select: [{when: ["data/c*"], run: [x]}]}`,
		change: put("/b.yml", file("/s/b.yml", 2)),
		want:   skipped(plan.RungSchema, unconcerned, two),
	},

	// Schemas of datafiles.
	{name: "a modified datafile", change: put("/a.yml", file("/s/a.yml", 2)),
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/a.yml"), hit("/a.yml"))},
	{name: "an added datafile", change: put("/new.yml", file("/s/a.yml", 2)),
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/new.yml"), hit("/new.yml"))},
	{name: "a removed datafile", change: func(_, head *side) {
		delete(head.data, "/a.yml")
	}, want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/a.yml"), hit("/a.yml"))},
	{name: "a datafile that had the schema", change: put("/a.yml", file("/s/b.yml", 1)),
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/a.yml"), hit("/a.yml"))},
	{name: "a datafile that gets the schema", change: put("/b.yml", file("/s/a.yml", "/r/mentioned.txt")),
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/b.yml"), hit("/b.yml"))},
	{name: "a datafile of another schema", change: put("/b.yml", file("/s/b.yml", 2)),
		want: skipped(plan.RungSchema, unconcerned, two)},
	{
		name: "one schema alone",
		change: func(base, head *side) {
			one := definition("x", object{"cmd": "x"}, "/s/c.yml")
			putBoth("/i/x.yml", one, one)(base, head)
			head.data["/a.yml"] = file("/s/a.yml", 2)
		},
		want: skipped(plan.RungSchema, plan.Reason{Code: plan.CodeNoAllowedFile, Names: []string{"/s/c.yml"}, Count: 1},
			plan.Evidence{Allowed: 1}),
	},
	{
		name: "no schema at all",
		change: func(base, head *side) {
			putBoth("/i/x.yml", definition("x", object{"cmd": "x"}), definition("x", object{"cmd": "x"}))(base, head)
			head.data["/a.yml"] = file("/s/a.yml", 2)
		},
		want: skipped(plan.RungSchema, because(plan.CodeNoSchemas), plan.Evidence{}),
	},
	{
		name: "metadata", change: put("/a.yml", with(file("/s/a.yml", 1), "$file_sha256sum", "2")),
		want: skipped(plan.RungSchema, because(plan.CodeOnlyMetadata), two),
	},
	{
		name: "a datafile, for one with queries", hasState: true, change: put("/a.yml", file("/s/a.yml", 2)),
		want: open(true, skipped(plan.RungSchema, unconcerned, hit("/a.yml"))),
	},
	{
		name: "a datafile of another schema, for one with queries", hasState: true,
		change: put("/b.yml", file("/s/b.yml", 2)),
		want:   open(false, skipped(plan.RungSchema, unconcerned, two)),
	},

	// Resources.
	{name: "a resource with a schema", change: putResource("/r/schema.txt", resource("2", "/s/a.yml")),
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/r/schema.txt"),
			withDoubt(hit("/r/schema.txt"), because(plan.CodeResourceChanged, "/r/schema.txt")))},
	{name: "a resource that had the schema", change: putResource("/r/schema.txt", resource("2")),
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/r/schema.txt"),
			withDoubt(hit("/r/schema.txt"), because(plan.CodeResourceChanged, "/r/schema.txt")))},
	{name: "a resource with another schema", change: putResource("/r/foreign.txt", resource("2", "/s/b.yml")),
		want: doubted(because(plan.CodeResourceChanged, "/r/foreign.txt"), two)},
	{name: "a resource that another schema's file mentions", change: putResource("/r/mentioned.txt", resource("2")),
		want: doubted(because(plan.CodeResourceChanged, "/r/mentioned.txt"), two)},
	{
		name: "a resource that only base mentions",
		change: func(base, head *side) {
			base.data["/a.yml"], head.data["/b.yml"] = file("/s/a.yml", "/r/mentioned.txt"), file("/s/b.yml", 2)
			head.resources["/r/mentioned.txt"] = resource("2")
		},
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/a.yml", "/r/mentioned.txt"),
			withDoubt(hit("/a.yml", "/r/mentioned.txt"), because(plan.CodeResourceChanged, "/r/mentioned.txt"))),
	},
	{
		name: "a datafile and a resource of another schema",
		change: func(base, head *side) {
			base.data["/a.yml"], head.data["/a.yml"] = file("/s/a.yml", 1), file("/s/a.yml", 2)
			head.resources["/r/foreign.txt"] = resource("2", "/s/b.yml")
		},
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/a.yml"),
			withDoubt(hit("/a.yml"), because(plan.CodeResourceChanged, "/r/foreign.txt"))),
	},
	{name: "backrefs alone", change: putResource("/r/alone.txt", with(resource("1"), "backrefs", []any{"x"})),
		want: skipped(plan.RungSchema, because(plan.CodeOnlyMetadata), two)},
	{
		name: "a resource that nothing mentions", change: putResource("/r/alone.txt", resource("2")),
		want: doubted(because(plan.CodeResourceChanged, "/r/alone.txt"), two),
	},
	{
		name: "a resource that nothing mentions, for one with queries", hasState: true,
		change: putResource("/r/alone.txt", resource("2")),
		want:   open(false, skipped(plan.RungSchema, unconcerned, two)),
	},
	{
		name:     "a resource that a paths rule claims for another",
		settings: `paths: {select: [{when: ["resources/**"], run: [y]}]}`,
		change:   putResource("/r/alone.txt", resource("2")),
		want:     doubted(because(plan.CodeResourceChanged, "/r/alone.txt"), two),
	},
	{
		name: "a resource, for one that asks for none", settings: `integrations: {x: {resources: none}}`,
		change: putResource("/r/alone.txt", resource("2")),
		want:   skipped(plan.RungSchema, unconcerned, two),
	},
	{
		name: "a resource, for one that asks for others", settings: `integrations: {x: {resources: ["resources/other/**"]}}`,
		change: putResource("/r/alone.txt", resource("2")),
		want:   skipped(plan.RungSchema, unconcerned, two),
	},
	{
		name:     "a resource, for one that asks for it",
		settings: `integrations: {x: {resources: ["resources/other/**", "resources/r/*"]}}`,
		change:   putResource("/r/alone.txt", resource("2")),
		want:     doubted(because(plan.CodeResourceChanged, "/r/alone.txt"), two),
	},
	{
		name:     "a resource that its datafile mentions, for one that asks for none",
		settings: `integrations: {x: {resources: none}}`,
		change: func(base, head *side) {
			putBoth("/a.yml", file("/s/a.yml", "/r/alone.txt"), file("/s/a.yml", "/r/alone.txt"))(base, head)
			head.resources["/r/alone.txt"] = resource("2")
		},
		want: runs(plan.RungSchema, because(plan.CodeAllowedFileChanged, "/r/alone.txt"), hit("/r/alone.txt")),
	},
	{
		name: "mentions cannot be relied on, and it asks for none", settings: `integrations: {x: {resources: none}}`,
		change: func(base, head *side) {
			putBoth("odd.yml", file("/s/b.yml", 1), file("/s/b.yml", 1))(base, head)
			head.resources["/r/mentioned.txt"] = resource("2")
		},
		want: doubted(because(plan.CodeResourceChanged, "/r/mentioned.txt"), two),
	},
	{
		name: "a resource where mentions cannot be relied on",
		change: func(base, head *side) {
			putBoth("odd.yml", file("/s/b.yml", 1), file("/s/b.yml", 1))(base, head)
			head.resources["/r/mentioned.txt"] = resource("2")
		},
		want: doubted(because(plan.CodeResourceChanged, "/r/mentioned.txt"), two),
	},

	// Types.
	{
		name: "a JSON schema", change: func(_, head *side) { head.schemas["/s/a.yml"] = object{"type": "string"} },
		want: doubted(because(plan.CodeTypesChanged, "/s/a.yml"), two),
	},
	{
		name: "GraphQL types", change: func(_, head *side) { head.graphql = []any{object{"name": "U", "fields": []any{}}} },
		want: doubted(because(plan.CodeTypesChanged, "T", "U"), two),
	},
	{
		name: "types, for one with queries", hasState: true,
		change: func(base, head *side) { head.schemas["/s/a.yml"] = object{"type": "string"} },
		want:   open(true, skipped(plan.RungSchema, because(plan.CodeOnlyMetadata), two)),
	},

	// Schemas that are not enforced.
	{
		name: "not enforced",
		change: func(base, head *side) {
			putBoth("/i/x.yml", x(object{"no_validate_schemas": true}), x(object{"no_validate_schemas": true}))(base, head)
			head.data["/b.yml"] = file("/s/b.yml", 2)
		},
		want: doubted(because(plan.CodeNotEnforced), two),
	},
	{
		name: "not enforced, and only metadata",
		change: func(base, head *side) {
			putBoth("/i/x.yml", x(object{"no_validate_schemas": true}), x(object{"no_validate_schemas": true}))(base, head)
			head.data["/b.yml"] = with(head.data["/b.yml"], "$file_sha256sum", "2")
		},
		want: skipped(plan.RungSchema, because(plan.CodeOnlyMetadata), two),
	},
	{
		name: "not enforced, for one with queries", hasState: true,
		change: func(base, head *side) {
			putBoth("/i/x.yml", x(object{"no_validate_schemas": true}), x(object{"no_validate_schemas": true}))(base, head)
			head.data["/b.yml"] = file("/s/b.yml", 2)
		},
		want: open(false, skipped(plan.RungSchema, unconcerned, two)),
	},
}
