package planner_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/state/dependence"
)

var schemaDecisions = flag.Int("schema-decisions", 3000, "how many decisions TestSchemaLaw makes")

// A chooser makes random bundles, queries and changes.
type chooser struct{ *rand.Rand }

func (c chooser) of(words ...string) string { return words[c.IntN(len(words))] }

// lawTypes are types with references, back references, an interface for all datafiles,
// objects inside of datafiles, and resources.
func lawTypes() []object {
	list := object{"isList": true}
	any := kind("DatafileObject_v1", "", field("path", "string", nil))
	any["isInterface"], any["interfaceResolve"] = true, object{"strategy": "schema"}
	back := func(schema, attr string) object {
		return object{"isList": true, "synthetic": object{"schema": schema, "subAttr": attr}}
	}
	common := []object{field("path", "string", nil), field("name", "string", object{"isSearchable": true})}
	entity := func(name, schema string, more ...object) object {
		return kind(name, schema, slices.Concat(common, more)...)
	}
	text := object{"isResource": true, "resolveResource": true}
	return []object{
		any,
		entity("A", "/a-1.yml", field("b", "B", nil), field("bs", "B", list), field("in", "In", nil),
			field("any", "DatafileObject_v1", object{"isInterface": true}),
			field("text", "string", text), field("back", "B", back("/b-1.yml", "a"))),
		entity("B", "/b-1.yml", field("a", "A", nil), field("c", "C", nil), field("back", "A", back("/a-1.yml", "bs"))),
		entity("C", "/c-1.yml", field("a", "A", nil), field("back", "B", back("/b-1.yml", "c"))),
		kind("In", "", field("c", "C", nil), field("key", "string", nil)),
		kind("Backref", "", field("path", "string", nil)),
		kind("Resource_v1", "", field("path", "string", nil), field("content", "string", nil),
			field("backrefs", "Backref", list)),
		kind("Query", "", field("as", "A", object{"isList": true, "datafileSchema": "/a-1.yml"}),
			field("bs", "B", object{"isList": true, "datafileSchema": "/b-1.yml"}),
			field("cs", "C", object{"isList": true, "datafileSchema": "/c-1.yml"}),
			field("resources", "Resource_v1", object{"isList": true, "isRequired": true, "isResource": true})),
	}
}

// target is a reference to some datafile, which may not exist or be of another schema than
// the types say.
func (c chooser) target(kinds ...string) object {
	return object{"$ref": fmt.Sprintf("/%s/%d.yml", c.of(kinds...), c.IntN(3))}
}

func (c chooser) datafile(of string) object {
	o := object{"$schema": "/" + of + "-1.yml", "name": c.of("x", "y")}
	add := func(key string, v any) {
		if c.IntN(2) == 0 {
			o[key] = v
		}
	}
	switch of {
	case "a":
		add("b", c.target("b"))
		add("bs", list{c.target("b"), c.target("b")})
		add("in", object{"key": c.of("k", "l"), "c": c.target("c")})
		add("any", c.target("a", "b", "c"))
		add("text", c.of("/r/0", "/r/1", "/r/2"))
	case "b":
		add("a", c.target("a"))
		add("c", c.target("c", "c", "c", "a"))
	case "c":
		add("a", c.target("a"))
	}
	return o
}

func (c chooser) world() *side {
	s := &side{data: object{}, resources: object{}, schemas: object{}, types: lawTypes()}
	for range 6 {
		c.change(s)
	}
	return s
}

// change adds, removes or replaces a file.
func (c chooser) change(s *side) {
	if c.IntN(6) == 0 {
		path := c.of("/r/0", "/r/1", "/r/2")
		s.resources[path] = resource(path, c.of("x", "y"), nil)
		s.resources[path].(object)["backrefs"] = list{object{"path": c.of("/a/0.yml", "/a/1.yml")}}
		return
	}
	of := c.of("a", "b", "c")
	path := fmt.Sprintf("/%s/%d.yml", of, c.IntN(3))
	if c.IntN(4) == 0 {
		delete(s.data, path)
		return
	}
	s.data[path] = c.datafile(of)
}

// query is a random query, which may filter and look at references and back references.
func (c chooser) query() string {
	root := c.of("as", "bs", "cs")
	of := root[:1]
	filter := ""
	if c.IntN(2) == 0 {
		filter = "(filter: {" + c.filter(of, 2) + "})"
	}
	if c.IntN(8) == 0 {
		return c.of(`{ resources(path: "/r/0") { content } }`, `{ resources(path: "/r/1") { backrefs { path } } }`,
			`{ resources { path } }`)
	}
	return "{ " + root + filter + " " + c.fields(of, 3) + " }"
}

func (c chooser) filter(of string, depth int) string {
	inner := map[string][]string{"a": {"b", "in"}, "b": {"a", "c"}, "c": {"a"}}[of]
	if depth == 0 || c.IntN(2) == 0 || len(inner) == 0 {
		return `name: "` + c.of("x", "y") + `"`
	}
	key := c.of(inner...)
	if key == "in" {
		return `in: {filter: {key: "k"}}`
	}
	first := ""
	if c.IntN(2) == 0 {
		first = `name: "x", `
	}
	return first + key + ": {filter: {" + c.filter(key, depth-1) + "}}"
}

func (c chooser) fields(of string, depth int) string {
	out := "__typename"
	if c.IntN(2) == 0 {
		out = "name"
	}
	if depth == 0 {
		return "{ " + out + " }"
	}
	at := map[string][][2]string{
		"a": {{"b", "b"}, {"bs", "b"}, {"back", "b"}, {"in { c", "c"}, {"any", ""}, {"text", "r"}},
		"b": {{"a", "a"}, {"c", "c"}, {"back", "a"}}, "c": {{"a", "a"}, {"back", "b"}},
	}[of]
	for range 1 + c.IntN(2) {
		next := at[c.IntN(len(at))]
		key := fmt.Sprintf("k%d: %s", c.IntN(1<<30), next[0])
		switch next[1] {
		case "":
			out += " " + key + " { __typename }"
		case "r":
			out += " " + key + " { content }"
		default:
			out += " " + key + " " + c.fields(next[1], depth-1)
			if next[0] == "in { c" {
				out += " }"
			}
		}
	}
	return "{ " + out + " }"
}

// An outcome is what a program that sends one query sees of a bundle.
type lawOutcome struct {
	answer  string
	touched []bundle.SchemaPath
	depends gql.Dependence
}

func ask(t *testing.T, b *bundle.Bundle, query string) lawOutcome {
	t.Helper()
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	q, err := schema.Compile(gql.Request{Query: query})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	res := gql.New(b, schema).Observe(t.Context(), q)
	return lawOutcome{string(res.JSON()), res.DatafileSchemas, res.Dependence}
}

// forbids tells whether an answer has data of schemas that are not allowed.
func (o lawOutcome) forbids(allowed []bundle.SchemaPath) bool {
	return slices.ContainsFunc(o.touched, func(s bundle.SchemaPath) bool { return !slices.Contains(allowed, s) })
}

// TestSchemaLaw holds that no skip at the rung schema is wrong, once a run of a program
// whose query stayed within its schemas is remembered: base and head give the program the
// same answer. The run was over a bundle that differs from both.
func TestSchemaLaw(t *testing.T) {
	decided, skipped, differing := 0, 0, 0
	for seed := uint64(0); decided < *schemaDecisions; seed++ {
		c := chooser{rand.New(rand.NewPCG(seed, 7))}
		base, query := c.world(), c.query()
		ran := copyOf(base)
		if c.IntN(2) == 0 {
			c.change(ran)
		}
		seen := ask(t, ran.bundle(t, nil), query)
		def := definition("it", object{"cmd": "it"})
		allowed := slices.Clone(seen.touched)
		if c.IntN(3) == 0 {
			allowed = append(allowed, bundle.SchemaPath(c.of("/a-1.yml", "/b-1.yml", "/c-1.yml")))
		}
		def["schemas"] = allowed
		base.data["/it.yml"] = def
		known := knownOf(seen.depends, allowed)
		for range 8 {
			head := copyOf(base)
			for range 1 + c.IntN(2) {
				c.change(head)
			}
			in := input(t, base, head, exec)
			in.Dependences = known
			p := made(t, in)
			d := p.Integrations[0]
			decided++
			before, after := ask(t, in.Base, query), ask(t, in.Head, query)
			same := before.answer == after.answer || before.forbids(allowed)
			if why := prove(t, in, p, same); why != "" {
				t.Fatalf("seed %d: %s\n%s: %s %s\nallowed %v, beyond %+v\nbase %s\nhead %s", seed, why, query, brief(d), d.Reason,
					allowed, known.beyond, before.answer, after.answer)
			}
			if !same {
				differing++
			}
			if d.Decision != plan.Skip {
				continue
			}
			skipped++
			proven := d.Code == plan.CodeSameBundle ||
				d.Code == plan.CodeOnlyMetadata && len(bundle.Compare(in.Base, in.Head).Backrefs) == 0
			if d.Believed == proven {
				t.Fatalf("seed %d: believed is %v for %s, though the command that passed is unknown", seed, d.Believed, d.Code)
			}
			if !same {
				t.Fatalf("seed %d: skipped (%s), but %s\nallowed %v, beyond %+v\nbase %s\nhead %s", seed, d.Reason, query, allowed,
					known.beyond, before.answer, after.answer)
			}
		}
	}
	t.Logf("%d decisions, %d skips, %d changes of answers", decided, skipped, differing)
	if skipped < decided/10 || differing < decided/10 {
		t.Errorf("of %d decisions %d skip, and %d answers differ: the generator is one-sided", decided, skipped, differing)
	}
}

func copyOf(s *side) *side {
	out := &side{data: object{}, resources: object{}, schemas: s.schemas, types: s.types}
	for path, f := range s.data {
		out.data[path] = f
	}
	for path, f := range s.resources {
		out.resources[path] = f
	}
	return out
}

// A knownRun is what is remembered of a run by another command.
type knownRun struct{ beyond dependence.Beyond }

func (k knownRun) Beyond(string) dependence.Beyond { return k.beyond }
func (knownRun) Passed(_, command string) bool     { return command == "another" }

// knownOf returns what is remembered of a run whose answer depended on d.
func knownOf(d gql.Dependence, allowed []bundle.SchemaPath) knownRun {
	b := dependence.Beyond{Lists: d.ListsResources, Backrefs: d.Backrefs}
	for _, s := range d.Schemas {
		if !slices.Contains(allowed, s) {
			b.Schemas = append(b.Schemas, string(s))
		}
	}
	for _, p := range d.Missing {
		b.Missing = append(b.Missing, string(p))
	}
	for _, p := range d.Resources {
		b.Resources = append(b.Resources, string(p))
	}
	return knownRun{b}
}
