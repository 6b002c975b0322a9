package gql_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A world makes random bundles and queries for a set of GraphQL types.
type world struct {
	*rand.Rand
	types map[string]*bundle.Object
	names []string
}

func newWorld(graphql any, seed uint64) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), types: map[string]*bundle.Object{}}
	confs, _ := graphql.(*bundle.Object).Get("confs")
	for _, v := range confs.([]any) {
		conf := v.(*bundle.Object)
		w.types[conf.String("name")] = conf
		w.names = append(w.names, conf.String("name"))
	}
	return w
}

func (w *world) chance(percent int) bool { return w.IntN(100) < percent }

func pick[T any](w *world, list ...T) T { return list[w.IntN(len(list))] }

func listOf(o *bundle.Object, key string) []*bundle.Object {
	v, _ := o.Get(key)
	items, _ := v.([]any)
	out := make([]*bundle.Object, 0, len(items))
	for _, item := range items {
		out = append(out, item.(*bundle.Object))
	}
	return out
}

func is(o *bundle.Object, key string) bool {
	v, _ := o.Get(key)
	return v == true
}

// path returns one of the paths that files of the world have.
func (w *world) path() string {
	return fmt.Sprintf("/%s/%d.yml", pick(w, "author", "book", "shelf", "gone"), w.IntN(4))
}

func (w *world) resource() string { return fmt.Sprintf("/res/%d", w.IntN(4)) }

func ref(path string) *bundle.Object {
	return bundle.NewObject(bundle.Member{Key: "$ref", Value: path})
}

// odd returns a value that does not fit any particular type.
func (w *world) odd() any {
	switch w.IntN(10) {
	case 0:
		return nil
	case 1:
		return ref(w.path())
	case 2:
		return []any{ref(w.path()), ref(w.path())}
	case 3:
		return []any{ref(w.path()), bundle.NewObject(bundle.Member{Key: "name", Value: "inline"})}
	case 4:
		return []any{}
	case 5:
		return bundle.NewObject(bundle.Member{Key: "$ref", Value: bundle.Number("5")})
	case 6:
		return bundle.NewObject(bundle.Member{Key: "path", Value: w.path()}, bundle.Member{Key: "kind", Value: "gold"})
	case 7:
		return []any{nil, "x"}
	case 8:
		return true
	}
	return pick(w, "odd", "1", "", "  12 ")
}

// value returns a value for a field. It usually fits the type of the field.
func (w *world) value(field *bundle.Object, depth int) any {
	if w.chance(6) {
		return w.odd()
	}
	if is(field, "isList") {
		list := []any{}
		for range w.IntN(4) {
			list = append(list, w.item(field, depth))
		}
		return list
	}
	return w.item(field, depth)
}

func (w *world) item(field *bundle.Object, depth int) any {
	typ := field.String("type")
	switch {
	case is(field, "isResource"):
		return w.resource()
	case typ == "string":
		return pick(w, "ana", "ben", "cleo", "wood", "gold", "é<&>", "")
	case typ == "int":
		return pick(w, bundle.Number("1"), "2", "3000000000", "-7")
	case typ == "float":
		return pick(w, bundle.Number("1.0"), "2.50", "1e21", "1e-7")
	case typ == "boolean":
		return w.chance(50)
	case typ == "json":
		return pick[any](w, "text", bundle.Number("1.10"), []any{"a", nil}, bundle.NewObject(
			bundle.Member{Key: "z", Value: w.path()}, bundle.Member{Key: "2", Value: bundle.Number("2")},
			bundle.Member{Key: "a", Value: ref(w.path())}))
	case typ == "Address_v1" || typ == "Part_v1":
		return w.object(typ, depth+1)
	case typ == "Award_v1":
		kind := pick(w, "gold", "paper", "paper", "tin")
		o := w.object(pick(w, "Gold_v1", "Paper_v1"), depth+1)
		o.Set("kind", kind)
		return o
	}
	return ref(w.path())
}

func (w *world) object(typ string, depth int) *bundle.Object {
	o := &bundle.Object{}
	for _, f := range listOf(w.types[typ], "fields") {
		name := f.String("name")
		if name == "schema" || name == "path" && depth == 0 || f.Has("synthetic") || w.chance(25) || depth > 3 {
			continue
		}
		o.Set(name, w.value(f, depth))
	}
	return o
}

// file returns a datafile.
func (w *world) file(path string) *bundle.Object {
	kind := strings.Split(path, "/")[1]
	typ := map[string]string{"author": "Author_v1", "book": "Book_v1",
		"shelf": pick(w, "WoodShelf_v1", "SteelShelf_v1")}[kind]
	o := w.object(typ, 0)
	o.Set("$schema", "/"+kind+"-1.yml")
	if kind == "shelf" {
		o.Set("material", pick(w, "wood", "steel", "wood", "glass"))
	}
	return o
}

// snapshot returns a random bundle as JSON.
func (w *world) snapshot(graphql any) *bundle.Object {
	data, resources := &bundle.Object{}, &bundle.Object{}
	for _, kind := range []string{"author", "book", "shelf"} {
		for i := range 4 {
			path := fmt.Sprintf("/%s/%d.yml", kind, i)
			data.Set(path, w.file(path))
		}
	}
	for i := range 3 {
		path := fmt.Sprintf("/res/%d", i)
		r := bundle.NewObject(bundle.Member{Key: "path", Value: path}, bundle.Member{Key: "content", Value: "text"},
			bundle.Member{Key: "sha256sum", Value: "sum"}, bundle.Member{Key: "$schema", Value: pick[any](w, nil, "/res-1.yml")},
			bundle.Member{Key: "backrefs", Value: []any{bundle.NewObject(bundle.Member{Key: "path", Value: w.path()})}})
		resources.Set(path, r)
	}
	return bundle.NewObject(bundle.Member{Key: "data", Value: data}, bundle.Member{Key: "graphql", Value: graphql},
		bundle.Member{Key: "resources", Value: resources})
}

// query returns the text of a random query. Some of them are not valid.
func (w *world) query() string {
	var out strings.Builder
	out.WriteString("{")
	roots := listOf(w.types["Query"], "fields")
	for range 1 + w.IntN(2) {
		f := pick(w, roots...)
		fmt.Fprintf(&out, " r%d: %s%s ", w.IntN(99), f.String("name"), w.arguments(f))
		w.selection(&out, f.String("type"), 0)
	}
	return out.String() + "}"
}

func (w *world) arguments(f *bundle.Object) string {
	switch {
	case w.chance(55):
		return ""
	case f.String("name") == "files":
		return pick(w, `(path:"/res/1")`, `(schema:"/res-1.yml")`, `(path:"/res/none")`)
	case f.String("name") == "shelves":
		return pick(w, `(filter:{material:"wood"})`, `(filter:{keeper:{filter:{name:"ana"}}})`, `(filter:{tree:{ne:null}})`)
	case f.String("type") == "Author_v1":
		return pick(w, `(name:"ana")`, `(path:"/author/1.yml")`, `(filter:{name:{in:["ana","ben"]}})`,
			`(filter:{friends:{filter:{age:{ne:1}}}})`,
			`(filter:{mentor:{filter:{name:"ben",mentor:{filter:{}}}}})`, `(filter:{tags:["ana"]})`,
			`(filter:{award:{filter:{kind:{ne:"gold"}}}})`,
			`(filter:{homes:{filter:{zip:{in:[1,2]}}}})`, `(filter:{age:null})`, `(filter:{shelf:{filter:{tree:"wood"}}})`)
	}
	return pick(w, `(title:"ana")`, `(filter:{parts:{filter:{page:{in:[1]}}}})`,
		`(filter:{authors:{filter:{name:{ne:"ana"}}}})`)
}

func (w *world) selection(out *strings.Builder, typ string, depth int) {
	out.WriteString("{ __typename ")
	fields := listOf(w.types[typ], "fields")
	for range 2 + w.IntN(5) {
		f := pick(w, fields...)
		name, below := f.String("name"), f.String("type")
		if is(f, "resolveResource") {
			below = "Resource_v1"
		}
		if _, composite := w.types[below]; composite {
			if depth < 3 {
				fmt.Fprintf(out, " %s%d: %s ", name, w.IntN(2), name)
				w.selection(out, below, depth+1)
			}
			continue
		}
		if w.chance(40) {
			fmt.Fprintf(out, " %s%d:", name, w.IntN(2))
		}
		out.WriteString(" " + name)
	}
	if related := w.related(typ); depth < 4 && (w.chance(30) || len(related) > 1) {
		on := pick(w, related...)
		fmt.Fprintf(out, " ... on %s ", on)
		w.selection(out, on, depth+1)
	}
	out.WriteString("}")
}

// related returns the types that a fragment on a type can have as its type condition.
func (w *world) related(typ string) []string {
	all := []string{typ}
	conf := w.types[typ]
	if conf.Has("datafile") {
		all = append(all, "DatafileObject_v1")
	}
	for _, name := range w.names {
		if other := w.types[name]; other.String("interface") == typ || typ == "DatafileObject_v1" && other.Has("datafile") {
			all = append(all, name)
		}
	}
	return all
}

// mutate returns a copy of a value with one change somewhere.
func (w *world) mutate(v any) any {
	switch v := v.(type) {
	case *bundle.Object:
		members := append([]bundle.Member{}, v.Members()...)
		if len(members) == 0 || w.chance(10) {
			return w.odd()
		}
		i := w.IntN(len(members))
		switch {
		case members[i].Key == "$schema":
			return v
		case w.chance(15):
			members = append(members[:i], members[i+1:]...)
		default:
			members[i].Value = w.mutate(members[i].Value)
		}
		return bundle.NewObject(members...)
	case []any:
		list := append([]any{}, v...)
		if len(list) == 0 || w.chance(15) {
			return append(list, w.odd())
		}
		i := w.IntN(len(list))
		if w.chance(20) {
			return append(list[:i], list[i+1:]...)
		}
		list[i] = w.mutate(list[i])
		return list
	}
	return w.odd()
}
