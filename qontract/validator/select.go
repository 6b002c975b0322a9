package validator

import (
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// A selection is the set of files that are checked.
type selection struct {
	datafiles []*bundle.File
	resources []*bundle.File
	schemas   []*bundle.File
	types     bool // the GraphQL types are checked too
}

func (c *checker) selectAll() *selection {
	return &selection{c.head.Datafiles(), c.head.Resources(), c.head.JSONSchemas(), true}
}

// selectChanged selects the files that differ, and all files that the differences can
// break:
//
//   - files with a schema that differs, or that refers to one that differs;
//   - datafiles that mention a path at which a file differs: the target may be gone, or
//     may have another schema, or another identity in a list;
//   - everything, if the GraphQL types differ.
//
// Duplicates of unique values are searched for in all files, not only in the selection.
func (c *checker) selectChanged(d *bundle.Diff) *selection {
	if len(d.GraphQL) > 0 || !c.base.HasSameGraphQL(c.head) {
		return c.selectAll()
	}
	if d.Empty() {
		return &selection{}
	}
	mentions := bundle.IndexMentions(c.base, c.head)
	schemas := c.affectedSchemas(d.Schemas)
	if !mentions.IsComplete() {
		return c.selectAll()
	}
	touched := map[*bundle.File]bool{}
	for _, list := range [][]bundle.Change{d.Datafiles, d.Resources, d.Backrefs} {
		for _, change := range list {
			touched[change.New] = true
			for _, f := range mentions.Of(change.Path) {
				touched[f] = true // those of base alone are not picked
			}
		}
	}
	s := &selection{types: len(d.Schemas) > 0}
	pick := func(files []*bundle.File) (out []*bundle.File) {
		for _, f := range files {
			if touched[f] || schemas[schemaPath(string(f.Schema))] {
				out = append(out, f)
			}
		}
		return out
	}
	s.datafiles, s.resources = pick(c.head.Datafiles()), pick(c.head.Resources())
	for _, f := range c.head.JSONSchemas() {
		if schemas[f.Path] {
			s.schemas = append(s.schemas, f)
		}
	}
	return s
}

// affectedSchemas returns the schema files that differ, and those that refer to one of
// them, directly or through others.
func (c *checker) affectedSchemas(changed []bundle.Path) map[bundle.Path]bool {
	if len(changed) == 0 {
		return nil
	}
	users := map[bundle.Path][]bundle.Path{}
	for p, decode := range c.library.docs {
		eachReference(decode(), func(target bundle.Path) { users[target] = append(users[target], p) })
	}
	out := map[bundle.Path]bool{}
	pending := append([]bundle.Path(nil), changed...)
	for len(pending) > 0 {
		p := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if !out[p] {
			out[p] = true
			pending = append(pending, users[p]...)
		}
	}
	return out
}

// eachReference calls yield for every schema file that a schema may refer to, including its
// metaschema.
func eachReference(v any, yield func(bundle.Path)) {
	switch v := v.(type) {
	case *bundle.Object:
		for _, m := range v.Members() {
			if s, ok := m.Value.(string); ok && (m.Key == "$ref" || m.Key == "$schema" || m.Key == "$schemaRef") {
				file, _, _ := strings.Cut(s, "#")
				yield(bundle.Path(file))
			}
			eachReference(m.Value, yield)
		}
	case []any:
		for _, item := range v {
			eachReference(item, yield)
		}
	}
}
