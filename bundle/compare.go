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
	Metadata // nothing but $file_sha256sum or __identifier
)

// String returns the word for the kind that documents use.
func (k Kind) String() string {
	return [...]string{"", "added", "removed", "modified", "metadata"}[k]
}

// A Change is one file that differs. Old is nil for an added file, New for a
// removed one.
type Change struct {
	Path     Path
	Kind     Kind
	Old, New *File
	Fields   []string // JSON pointers into the datafile; only for Modified and Metadata
}

// Schemas returns the schemas of either side, without repetition.
func (c Change) Schemas() []Schema {
	var out []Schema
	for _, f := range []*File{c.Old, c.New} {
		if f != nil && f.Schema != "" && !slices.Contains(out, f.Schema) {
			out = append(out, f.Schema)
		}
	}
	return out
}

// A Diff is everything in which two bundles differ, but for the commit. All
// lists are sorted.
type Diff struct {
	Datafiles []Change
	Resources []Change
	Backrefs  []Change // resources in which nothing but backrefs differs
	Schemas   []Path   // JSON schema files
	GraphQL   []string // GraphQL types
}

// Empty tells whether nothing differs.
func (d *Diff) Empty() bool {
	return len(d.Datafiles)+len(d.Resources)+len(d.Backrefs)+len(d.Schemas)+len(d.GraphQL) == 0
}

// Compare returns what differs between two bundles. Files that both share are
// not looked at.
func Compare(base, head *Bundle) *Diff {
	d := &Diff{GraphQL: compareTypes(base, head)}
	scalars := jsonFields(base)
	if !base.SameGraphQL(head) {
		for name := range jsonFields(head) {
			scalars[name] = true
		}
	}
	for _, c := range pairs(&base.datafiles, &head.datafiles) {
		if c.Kind = datafileKind(c, scalars); c.Kind == 0 {
			continue
		}
		if c.Old != nil && c.New != nil {
			c.Fields = changedFields(c.Old, c.New, c.Kind)
		}
		d.Datafiles = append(d.Datafiles, c)
	}
	for _, c := range pairs(&base.resources, &head.resources) {
		switch c.Kind = resourceKind(c); c.Kind {
		case 0:
		case Metadata:
			d.Backrefs = append(d.Backrefs, c)
		default:
			d.Resources = append(d.Resources, c)
		}
	}
	for _, c := range pairs(&base.schemas, &head.schemas) {
		if c.Old == nil || c.New == nil || !Equal(c.Old.Object(), c.New.Object()) {
			d.Schemas = append(d.Schemas, c.Path)
		}
	}
	return d
}

// pairs returns the files that the two sections do not share, in path order.
func pairs(base, head *section) []Change {
	var out []Change
	next, shared := 0, 0
	for _, f := range head.files {
		if next < len(base.files) && base.files[next] == f {
			next++
			shared++
			continue
		}
		at, ok := base.at[f.Path]
		if !ok {
			out = append(out, Change{Path: f.Path, New: f})
			continue
		}
		next = at + 1
		shared++
		if old := base.files[at]; old != f && !bytes.Equal(old.raw, f.raw) {
			out = append(out, Change{Path: f.Path, Old: old, New: f})
		}
	}
	if shared < len(base.files) {
		for _, f := range base.files {
			if _, ok := head.at[f.Path]; !ok {
				out = append(out, Change{Path: f.Path, Old: f})
			}
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out
}

func datafileKind(c Change, scalars map[string]bool) Kind {
	switch {
	case c.Old == nil:
		return Added
	case c.New == nil:
		return Removed
	case Equal(c.Old.Object(), c.New.Object()):
		return 0
	case sameButMetadata(c.Old.Object(), c.New.Object(), scalars):
		return Metadata
	}
	return Modified
}

// sameButMetadata compares two datafiles without their $file_sha256sum and
// without any __identifier, but for those inside a json scalar.
func sameButMetadata(a, b *Object, scalars map[string]bool) bool {
	return Equal(withoutMetadata(a, true, scalars), withoutMetadata(b, true, scalars))
}

func withoutMetadata(v any, root bool, scalars map[string]bool) any {
	switch v := v.(type) {
	case *Object:
		out := &Object{members: make([]Member, 0, v.Len())}
		for _, m := range v.members {
			switch {
			case m.Key == "__identifier", root && m.Key == "$file_sha256sum":
			case scalars[m.Key]:
				out.Set(m.Key, m.Value)
			default:
				out.Set(m.Key, withoutMetadata(m.Value, false, scalars))
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutMetadata(v[i], false, scalars)
		}
		return out
	}
	return v
}

// resourceKind classifies a pair of resources; Metadata means that only the
// backrefs differ.
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

func withoutKey(o *Object, key string) *Object {
	out := &Object{}
	for _, m := range o.members {
		if m.Key != key {
			out.Set(m.Key, m.Value)
		}
	}
	return out
}

// compareTypes returns the names of the GraphQL types that differ. When one
// side has the old form, a bare list, and the other has not, every type of
// head counts, since filters behave differently.
func compareTypes(base, head *Bundle) []string {
	if base.SameGraphQL(head) {
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

func confs(graphql any) []any {
	if o, ok := graphql.(*Object); ok {
		graphql, _ = o.Get("confs")
	}
	list, _ := graphql.([]any)
	return list
}

func typesByName(graphql any) map[string]any {
	out := map[string]any{}
	for _, t := range confs(graphql) {
		o, _ := t.(*Object)
		if o == nil {
			o = &Object{}
		}
		// Whatever stands under one name counts together, so that nothing of a
		// malformed list is lost.
		name := o.String("name")
		all, _ := out[name].([]any)
		out[name] = append(all, t)
	}
	return out
}

// jsonFields returns the names of all fields of the GraphQL type json.
func jsonFields(b *Bundle) map[string]bool {
	out := map[string]bool{}
	for _, t := range confs(b.GraphQL()) {
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
