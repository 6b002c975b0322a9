package bundle

import (
	"bytes"
	"slices"
	"strings"
)

// A Kind says how a file changed.
type Kind int

// The kinds of change; the zero value is no kind.
const (
	Added Kind = iota + 1
	Removed
	Modified
	Metadata // only $file_sha256sum differs, or __identifier where it says nothing
)

// String returns the word for the kind in documents.
func (k Kind) String() string {
	return [...]string{"", "added", "removed", "modified", "metadata"}[k]
}

// A Change is one file that differs between two bundles. Old is nil for an added file, New
// for a removed file.
type Change struct {
	Path     Path
	Kind     Kind
	Old, New *File
	Fields   []string // sorted JSON pointers into the datafile; only for Modified and Metadata
}

// Schemas returns the schemas of the old and the new version, without repetition.
func (c Change) Schemas() []SchemaPath {
	var out []SchemaPath
	for _, f := range []*File{c.Old, c.New} {
		if f != nil && f.Schema != "" && !slices.Contains(out, f.Schema) {
			out = append(out, f.Schema)
		}
	}
	return out
}

// A Diff lists all differences between two bundles except the commit. All lists are sorted.
type Diff struct {
	Datafiles []Change
	Resources []Change
	Backrefs  []Change // resources in which only the backrefs differ
	Schemas   []Path   // JSON schema files
	GraphQL   []string // GraphQL types
}

// Empty reports whether the bundles do not differ.
func (d *Diff) Empty() bool {
	return len(d.Datafiles)+len(d.Resources)+len(d.Backrefs)+len(d.Schemas)+len(d.GraphQL) == 0
}

// Compare returns the differences between two bundles. It does not look into files that
// both bundles share.
func Compare(base, head *Bundle) *Diff {
	d := &Diff{GraphQL: compareTypes(base, head)}
	jsonKeys := jsonFieldNames(base)
	if !base.HasSameGraphQL(head) {
		for name := range jsonFieldNames(head) {
			jsonKeys[name] = true
		}
	}
	for _, c := range differingFiles(&base.datafiles, &head.datafiles) {
		if c.Kind = datafileKind(c, jsonKeys); c.Kind == 0 {
			continue
		}
		if c.Old != nil && c.New != nil {
			c.Fields = changedFields(c.Old, c.New, c.Kind)
		}
		d.Datafiles = append(d.Datafiles, c)
	}
	for _, c := range differingFiles(&base.resources, &head.resources) {
		switch c.Kind = resourceKind(c); c.Kind {
		case 0:
		case Metadata:
			d.Backrefs = append(d.Backrefs, c)
		default:
			d.Resources = append(d.Resources, c)
		}
	}
	for _, c := range differingFiles(&base.schemas, &head.schemas) {
		if c.Old == nil || c.New == nil || !Equal(c.Old.Object(), c.New.Object()) {
			d.Schemas = append(d.Schemas, c.Path)
		}
	}
	return d
}

// differingFiles returns the files that differ in their bytes or exist in only one of the
// sections, sorted by path.
func differingFiles(base, head *section) []Change {
	var out []Change
	next, shared := 0, 0
	for _, f := range head.files {
		if next < len(base.files) && base.files[next] == f {
			next++
			shared++
			continue
		}
		at, ok := base.indexOf[f.Path]
		if !ok {
			out = append(out, Change{Path: f.Path, New: f})
			continue
		}
		next = at + 1
		shared++
		if old := base.files[at]; old != f && !bytes.Equal(old.text(), f.text()) {
			out = append(out, Change{Path: f.Path, Old: old, New: f})
		}
	}
	if shared < len(base.files) {
		for _, f := range base.files {
			if _, ok := head.indexOf[f.Path]; !ok {
				out = append(out, Change{Path: f.Path, Old: f})
			}
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out
}

// datafileKind returns how a datafile changed, or 0 if it has the same content. jsonKeys
// are the names of the fields of the GraphQL type json.
func datafileKind(c Change, jsonKeys map[string]bool) Kind {
	switch {
	case c.Old == nil:
		return Added
	case c.New == nil:
		return Removed
	case Equal(c.Old.Object(), c.New.Object()):
		return 0
	case equalWithoutMetadata(c.Old.Object(), c.New.Object(), jsonKeys):
		return Metadata
	}
	return Modified
}

// equalWithoutMetadata compares two datafiles without $file_sha256sum and __identifier.
// Inside the values of jsonKeys, __identifier is compared, and so it is beside $ref: an object
// is a reference only as long as $ref is its only key.
func equalWithoutMetadata(a, b *Object, jsonKeys map[string]bool) bool {
	return Equal(withoutMetadata(a, true, jsonKeys), withoutMetadata(b, true, jsonKeys))
}

// withoutMetadata returns a copy of a value without its metadata. root is true for the top
// level of a datafile.
func withoutMetadata(v any, root bool, jsonKeys map[string]bool) any {
	switch v := v.(type) {
	case *Object:
		out := &Object{members: make([]Member, 0, v.Len())}
		for _, m := range v.members {
			switch {
			case m.Key == "__identifier" && !v.Has("$ref"), root && m.Key == "$file_sha256sum":
			case jsonKeys[m.Key]:
				out.Set(m.Key, m.Value)
			default:
				out.Set(m.Key, withoutMetadata(m.Value, false, jsonKeys))
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutMetadata(v[i], false, jsonKeys)
		}
		return out
	}
	return v
}

// resourceKind returns how a resource changed, or 0 if it has the same content. Metadata
// means that only the backrefs differ.
func resourceKind(c Change) Kind {
	switch {
	case c.Old == nil:
		return Added
	case c.New == nil:
		return Removed
	case Equal(c.Old.Object(), c.New.Object()):
		return 0
	case Equal(withoutKey(c.Old.Object(), "backrefs"), withoutKey(c.New.Object(), "backrefs")):
		return Metadata
	}
	return Modified
}

// withoutKey returns a copy of an object without one key.
func withoutKey(o *Object, key string) *Object {
	out := &Object{}
	for _, m := range o.members {
		if m.Key != key {
			out.Set(m.Key, m.Value)
		}
	}
	return out
}

// compareTypes returns the names of the GraphQL types that differ. If only one of the
// bundles has the old form, a list, every type of head counts, because filters behave
// differently with the old form.
func compareTypes(base, head *Bundle) []string {
	if base.HasSameGraphQL(head) {
		return nil
	}
	before, after := typesByName(base.GraphQL()), typesByName(head.GraphQL())
	_, wasList := base.GraphQL().([]any)
	_, isList := head.GraphQL().([]any)
	var out []string
	for name, v := range after {
		if old, ok := before[name]; !ok || wasList != isList || !Equal(old, v) {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// typeConfs returns the descriptions of the GraphQL types. It accepts both forms of the
// section.
func typeConfs(graphql any) []any {
	if o, ok := graphql.(*Object); ok {
		graphql, _ = o.Get("confs")
	}
	list, _ := graphql.([]any)
	return list
}

// typesByName maps each name to a list of the types with this name.
func typesByName(graphql any) map[string]any {
	out := map[string]any{}
	for _, t := range typeConfs(graphql) {
		o, _ := t.(*Object)
		if o == nil {
			o = &Object{}
		}
		// A malformed list can have several types with one name. They are compared together, so
		// that no difference is missed.
		name := o.String("name")
		all, _ := out[name].([]any)
		out[name] = append(all, t)
	}
	return out
}

// jsonFieldNames returns the names of all fields of the GraphQL type json.
func jsonFieldNames(b *Bundle) map[string]bool {
	out := map[string]bool{}
	for _, t := range typeConfs(b.GraphQL()) {
		o, _ := t.(*Object)
		if o == nil {
			continue
		}
		fields, _ := o.Get("fields")
		list, _ := fields.([]any)
		for _, f := range list {
			if f, ok := f.(*Object); ok && f.String("type") == "json" {
				out[f.String("name")] = true
			}
		}
	}
	return out
}
