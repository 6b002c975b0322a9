package live

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// Bundles are both bundles of a change, as far as a server shows them, and the sides that
// answer queries over them.
type Bundles struct {
	Base, Head         *bundle.Bundle
	BaseSide, HeadSide *BundleClient
	RequestedDatafiles int // number of datafiles that were requested one by one

	listed map[bundle.SchemaPath]bool
}

// ListsSchema reports whether a root field lists the datafiles of a schema on either side. Of
// another schema only those datafiles are known that changed or to which a reference leads.
func (b *Bundles) ListsSchema(s bundle.SchemaPath) bool { return b.listed[s] }

// The indices of base and head in arrays of two.
const (
	base = iota
	head
)

// A loader reads the data of two bundles from a server.
type loader struct {
	client *Client
	sha    [2]string
	sides  [2]*BundleClient

	commit             [2]commitInfo
	types              [2]*typeSet
	datafiles          map[bundle.Path]*filePair // nil for a datafile that neither side has
	resources          map[bundle.Path]*filePair
	changed            map[bundle.Path]bool // resources that differ
	synthetic          map[fieldName]synthetic
	roots              map[string][2]bundle.SchemaPath // schema of the listed datafiles, by root field
	requestedDatafiles int

	inferred   map[string]bool       // types whose back references were looked for
	undecided  [2]map[fieldName]bool // fields that may or may not be back references
	vagueTypes map[string]bool       // types with undecided fields
}

// A filePair is a file on both sides.
type filePair struct {
	raw    [2]json.RawMessage // nil if the side does not have the file
	object [2]*bundle.Object  // nil until datafileObject has decoded it
}

// A commitInfo is the answer of the server about the commit of a bundle.
type commitInfo struct {
	Commit    string `json:"commit"`
	Timestamp string `json:"timestamp"`
}

// Open reads both bundles of a change from their server. The error is an
// [UnknownBundleError] if the server does not have one of them.
func Open(ctx context.Context, from, to Ref, opts Connection) (*Bundles, error) {
	if from.Server != to.Server {
		return nil, fmt.Errorf("base is on %s and head on %s: one server must have both bundles, since changes come from "+
			"its /diff; load both there", from.Server, to.Server)
	}
	client := NewClient(from.Server, opts)
	l := &loader{
		client: client, sha: [2]string{from.SHA256, to.SHA256},
		sides:     [2]*BundleClient{{client: client, sha: from.SHA256}, {client: client, sha: to.SHA256}},
		datafiles: map[bundle.Path]*filePair{}, resources: map[bundle.Path]*filePair{}, changed: map[bundle.Path]bool{},
		synthetic: map[fieldName]synthetic{}, roots: map[string][2]bundle.SchemaPath{},
		inferred: map[string]bool{}, undecided: [2]map[fieldName]bool{{}, {}}, vagueTypes: map[string]bool{},
	}
	for _, step := range []func(context.Context) error{
		l.readCommits, l.readDiff, l.introspect, l.listDatafiles, l.followReferences, l.inferBackReferences, l.listResources,
		l.fetchReferringFiles, l.followReferences,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return l.assemble()
}

// forBothSides calls do for both sides at the same time.
func forBothSides(do func(side int) error) error {
	var g errgroup.Group
	for side := range 2 {
		g.Go(func() error { return do(side) })
	}
	return g.Wait()
}

// readCommits reads the commits of both bundles. This fails if the server does not have the
// bundles.
func (l *loader) readCommits(ctx context.Context) error {
	return forBothSides(func(side int) error {
		path := "/git-commit-info/" + l.sha[side]
		raw, err := l.client.get(ctx, path)
		if err != nil {
			return l.client.explainUnknownBundle(ctx, err, l.sha[side])
		}
		if err := json.Unmarshal(raw, &l.commit[side]); err != nil {
			return l.client.badAnswer(path, err)
		}
		return nil
	})
}

// describeTypes describes the GraphQL types of one side in the form that they have in a
// bundle, as far as they are known.
func (l *loader) describeTypes(side int) *bundle.Object {
	list := []any{}
	for _, t := range l.types[side].list {
		o := bundle.NewObject(bundle.Member{Key: "name", Value: t.name})
		set := func(key string, v any) { o.Set(key, v) }
		if t.kind == "INTERFACE" {
			set("isInterface", true)
			set("interfaceResolve", l.describeResolver(side, t))
		}
		for _, i := range t.interfaces {
			if i != datafileInterface || len(t.interfaces) == 1 && !l.mayBeDatafile(side, t) {
				set("interface", i)
				break
			}
		}
		if s := l.boundSchema(side, t); s != "" {
			set("datafile", string(s))
		}
		fields := []any{}
		for _, f := range t.fields {
			fields = append(fields, l.describeField(side, t, f))
		}
		set("fields", fields)
		list = append(list, o)
	}
	return bundle.NewObject(bundle.Member{Key: "confs", Value: list})
}

// scalars are the names that scalar types have in a bundle.
var scalars = map[string]string{"String": "string", "Int": "int", "Float": "float", "Boolean": "boolean",
	"JSON": "json"}

// describeField describes a field in the form of a bundle.
func (l *loader) describeField(side int, t *graphqlType, f field) *bundle.Object {
	word := f.typeName
	if s, ok := scalars[f.typeName]; ok {
		word = s
	}
	o := bundle.NewObject(bundle.Member{Key: "name", Value: f.name}, bundle.Member{Key: "type", Value: word})
	flag := func(key string, on bool) {
		if on {
			o.Set(key, true)
		}
	}
	flag("isInterface", f.kind == "INTERFACE")
	flag("isList", f.list)
	flag("isRequired", f.required)
	flag("isSearchable", l.isSearchable(side, t, f.name))
	switch s, back := l.synthetic[fieldName{t.name, f.name}]; {
	case f.listsDatafiles():
		o.Set("datafileSchema", string(l.listedSchema(side, f)))
	case f.typeName == resourceType && len(f.args) > 0:
		flag("isResource", true)
	case f.typeName == resourceType && !f.list:
		o.Set("type", "string")
		flag("isResource", true)
		flag("resolveResource", true)
	case back:
		o.Set("synthetic", bundle.NewObject(bundle.Member{Key: "schema", Value: string(s.schema)},
			bundle.Member{Key: "subAttr", Value: s.attr}))
	}
	return o
}

// listedSchema returns the schema of the datafiles that a root field lists. If it lists
// none, it returns the schema on the other side, or a schema that no datafile has.
func (l *loader) listedSchema(side int, f field) bundle.SchemaPath {
	known := l.roots[f.name]
	for _, s := range []bundle.SchemaPath{known[side], known[1-side]} {
		if s != "" {
			return s
		}
	}
	return bundle.SchemaPath("unknown schema of " + f.name)
}

// isSearchable reports whether the root fields of a type take a field as an argument.
func (l *loader) isSearchable(side int, t *graphqlType, name string) bool {
	if name == "path" || name == "filter" {
		return false
	}
	for _, root := range l.types[side].rootFields() {
		if root.typeName == t.name && root.listsDatafiles() && slices.Contains(root.args, name) {
			return true
		}
	}
	return false
}

// boundSchema returns the schema of the datafiles that a type describes, which is the schema
// that its root field lists. It returns "" if the type describes no datafiles.
func (l *loader) boundSchema(side int, t *graphqlType) bundle.SchemaPath {
	if !l.mayBeDatafile(side, t) {
		return ""
	}
	for _, f := range l.types[side].rootFields() {
		if f.typeName == t.name && f.listsDatafiles() {
			return l.listedSchema(side, f)
		}
	}
	if l.types[side].byName[datafileInterface] != nil && !l.isDatafileByInterface(side, t) {
		return bundle.SchemaPath("unknown schema of " + t.name)
	}
	return ""
}

// isDatafileByInterface reports whether a type describes datafiles because one of its
// interfaces does.
func (l *loader) isDatafileByInterface(side int, t *graphqlType) bool {
	return slices.ContainsFunc(t.interfaces, func(name string) bool {
		i := l.types[side].byName[name]
		return name != datafileInterface && i != nil && slices.Contains(i.interfaces, datafileInterface)
	})
}

// mayBeDatafile reports whether a type may describe datafiles. If the server has an interface
// of all datafiles, only its types do.
func (l *loader) mayBeDatafile(side int, t *graphqlType) bool {
	if l.types[side].byName[datafileInterface] == nil {
		return true
	}
	return slices.Contains(t.interfaces, datafileInterface)
}

// commonFields are fields of interfaces whose values never decide the type of an object.
var commonFields = []string{"path", "schema", "name", "description"}

// describeResolver describes, in the form of a bundle, how the type of an interface's value
// is found. A server does not show this, so the field that decides is a guess: the first
// text field of the interface that is not a common one. No query is evaluated with it.
func (l *loader) describeResolver(side int, t *graphqlType) *bundle.Object {
	datafiles := len(t.possibleTypes) > 0 && !slices.Contains(t.interfaces, datafileInterface)
	values := &bundle.Object{}
	for _, name := range t.possibleTypes {
		p := l.types[side].byName[name]
		datafiles = datafiles && p != nil && slices.Contains(p.interfaces, datafileInterface)
		values.Set("a value of "+name, name)
	}
	if datafiles || t.name == datafileInterface {
		return bundle.NewObject(bundle.Member{Key: "strategy", Value: "schema"})
	}
	key := ""
	for _, f := range t.fields {
		if key == "" && f.typeName == "String" && !f.list && !slices.Contains(commonFields, f.name) {
			key = f.name
		}
	}
	if key == "" {
		return bundle.NewObject(bundle.Member{Key: "strategy", Value: "schema"})
	}
	return bundle.NewObject(bundle.Member{Key: "strategy", Value: "fieldMap"}, bundle.Member{Key: "field", Value: key},
		bundle.Member{Key: "fieldMap", Value: values})
}

// assemble makes bundles of the data that was read.
func (l *loader) assemble() (*Bundles, error) {
	var made [2]*bundle.Bundle
	for side, word := range []string{"base", "head"} {
		raw, err := l.bundleJSON(side)
		if err == nil {
			made[side], err = bundle.ParseWithSHA256(raw, l.sha[side], made[base])
		}
		if err != nil {
			return nil, fmt.Errorf("%s, as read from %s: %w", word, l.client.server, err)
		}
	}
	for _, side := range l.sides {
		side.vagueTypes = l.vagueTypes
	}
	listed := map[bundle.SchemaPath]bool{}
	for _, schemas := range l.roots {
		listed[schemas[base]], listed[schemas[head]] = true, true
	}
	return &Bundles{listed: listed, Base: made[base], Head: made[head], BaseSide: l.sides[base], HeadSide: l.sides[head],
		RequestedDatafiles: l.requestedDatafiles}, nil
}

// bundleJSON returns one side as the content of a bundle file.
func (l *loader) bundleJSON(side int) ([]byte, error) {
	size := 0
	for _, p := range l.datafiles {
		if p != nil {
			size += len(p.raw[side])
		}
	}
	out := make([]byte, 0, size+size/8)
	var err error
	if out, err = appendFiles(append(out, `{"data":{`...), l.datafiles, side); err != nil {
		return nil, err
	}
	if out, err = appendFiles(append(out, `},"resources":{`...), l.resources, side); err != nil {
		return nil, err
	}
	out = gql.AppendJSON(append(out, `},"schemas":{},"graphql":`...), l.describeTypes(side))
	for _, m := range []struct{ key, value string }{
		{"git_commit", l.commit[side].Commit}, {"git_commit_timestamp", l.commit[side].Timestamp},
	} {
		text, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(out, `,"`+m.key+`":`...), text...)
	}
	return append(out, '}'), nil
}

// appendFiles appends the files of one side, sorted by path, to a JSON object.
func appendFiles(out []byte, files map[bundle.Path]*filePair, side int) ([]byte, error) {
	first := true
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if files[p] == nil || files[p].raw[side] == nil {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		name, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), files[p].raw[side]...)
	}
	return out, nil
}

// Limitations returns the changes that a live server does not show, one sentence each.
func (b *Bundles) Limitations() []string {
	return []string{
		"changes of JSON schemas are not seen: a server does not show them",
		"of the GraphQL types only what introspection and answers show is compared",
	}
}
